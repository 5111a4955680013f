import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseVerifierOutput } from './index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const parse = (text: string) => parseVerifierOutput(bytes(text))

describe('one JSON object', () => {
  it.each([
    ['plain', '{"status": "pass"}', 'pass'],
    ['over several lines, with space around', '\n  {\n "status":\t"fail"\n}\n\n', 'fail'],
    ['in capitals', '{"status": "PASS"}', 'pass'],
    ['in mixed case with space', '{"status": " Fail "}', 'fail'],
    ['unknown by its own word', '{"status": "unknown"}', 'unknown'],
    ['with a BOM', '\uFEFF{"status": "pass"}', 'pass'],
    ['with CRLF', '{\r\n"status": "pass"\r\n}\r\n', 'pass'],
    ['in colour', '\u001b[32m{"status": "\u001b[1mpass"}\u001b[0m\n', 'pass'],
    ['after a title', '\u001b]0;running tests\u0007{"status": "fail"}', 'fail'],
    ['in a link', '\u001b]8;;http://x\u001b\\{"status": "fail"}\u001b]8;;\u001b\\', 'fail'],
    ['after a BOM and a colour', '\u001b[0m\uFEFF{"status": "pass"}', 'pass'],
  ])('%s is the verdict', (_what, text, status) => {
    expect(parse(text)).toMatchObject({ status })
    expect(parse(text).note).toBeUndefined()
  })

  it('keeps all other fields', () => {
    const verdict = {
      status: 'fail',
      summary: '2 failed',
      errors: ['a', 'b'],
      seconds: 1.5,
      nested: { status: 'pass' },
    }
    expect(parse(JSON.stringify(verdict))).toEqual({ status: 'fail', verdict })
  })
})

describe('what is no verdict is unknown, with the reason and a hint', () => {
  it.each([
    ['nothing', '', 'printed nothing'],
    ['space alone', ' \r\n\t', 'printed nothing'],
    ['colour alone', '\u001b[0m', 'printed nothing'],
    ['text', 'all tests passed', 'no JSON object with a status'],
    ['an array', '[{"status": "pass"}]', 'JSON array'],
    ['a string', '"pass"', 'not a JSON object'],
    ['true', 'true', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['an object without a status', '{"result": "pass"}', 'no status'],
    ['a nested status', '{"result": {"status": "pass"}}', 'no status'],
    ['another word', '{"status": "ok"}', '"ok"'],
    ['a number', '{"status": 1}', '1'],
    ['true as status', '{"status": true}', 'true'],
    ['a list as status', '{"status": ["pass"]}', '["pass"]'],
    ['an empty status', '{"status": ""}', '""'],
    ['a cut object', '{"status": "pass"', 'no JSON object with a status'],
    ['single quotes', "{'status': 'pass'}", 'no JSON object with a status'],
    ['a NUL', '{"status": "pass"}\0', 'binary'],
  ])('%s', (_what, text, reason) => {
    const { status, note, hint } = parse(text)
    expect(status).toBe('unknown')
    expect(note).toContain(reason)
    expect(hint).toContain('stdout')
  })

  it('bytes that are no UTF-8', () => {
    const binary = new Uint8Array([...bytes('{"status": "pass"}'), 0xff, 0xfe])
    expect(parseVerifierOutput(binary)).toMatchObject({ status: 'unknown', note: expect.stringContaining('binary') })
  })

  it('a flood', () => {
    const flood = bytes(`{"status": "pass"}${' '.repeat(1 << 20)}`)
    expect(parseVerifierOutput(flood)).toMatchObject({ status: 'unknown', note: expect.stringContaining('flood') })
  })
})

describe('among other output', () => {
  it.each([
    ['log lines around it', 'collecting...\n{"status": "pass"}\ndone', 'pass'],
    ['on a line with other words', 'verdict: {"status": "fail", "summary": "a } b"} (end)', 'fail'],
    ['two that agree', '{"status": "fail"}\n{"status": "FAIL", "n": 2}', 'fail'],
    ['objects without a status', '{"event": "start"}\n{"status": "pass"}', 'pass'],
    ['brackets that hold words', '[INFO] starting\n{"status": "pass"}', 'pass'],
    ['an opening brace that never closes', 'function f() {\n{"status": "pass"}\n', 'pass'],
    ['a stray quote before', 'it\'s 5" wide\n{ "half\n{"status": "pass"}', 'pass'],
    ['brackets that cross', '{ [ }\n{"status": "pass"}\n}', 'pass'],
    ['an escaped quote', 'log {"summary": "a \\" } b", "status": "fail"}', 'fail'],
    ['closing braces before', '}}]\n{"status": "pass"}', 'pass'],
  ])('%s: the verdict counts and says that it was found so', (_what, text, status) => {
    expect(parse(text)).toMatchObject({ status, note: expect.stringContaining('found among other output') })
  })

  it('keeps the last of those that agree', () => {
    expect(parse('{"status": "fail"}\n{"status": "fail", "n": 2}').verdict).toEqual({ status: 'fail', n: 2 })
  })

  it.each([
    ['two that differ', '{"status": "pass"}\n{"status": "fail"}', 'differ: pass, fail'],
    ['a verdict and another word', '{"status": "started"}\n{"status": "pass"}', 'differ: "started", pass'],
    ['only another word', 'log\n{"status": "ok"}', 'none of pass, fail, unknown'],
    ['one nested in an object', 'log {"result": {"status": "pass"}}', 'no JSON object'],
    ['one nested in an array', 'log [{"status": "pass"}]', 'no JSON object'],
    ['one within braces that are no JSON', '{\'verdict\': {"status": "pass"}}', 'no JSON object'],
    ['one within a string', '{"log": "{\\"status\\": \\"pass\\"}"} end', 'no JSON object'],
  ])('%s: unknown', (_what, text, reason) => {
    const parsed = parse(text)
    expect(parsed).toMatchObject({ status: 'unknown', note: expect.stringContaining(reason) })
    expect(parsed.hint).toBeTruthy()
  })
})

describe('whatever is printed', () => {
  const braces = fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', '\n', 'a', '\u001b', '{"status":"pass"}'),
  })

  it('never throws and always names a status', () => {
    const printed = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string().map(bytes), braces.map(bytes))
    fc.assert(
      fc.property(printed, (stdout) => {
        const { status, note, hint } = parseVerifierOutput(stdout)
        expect(['pass', 'fail', 'unknown']).toContain(status)
        if (status !== 'unknown') return
        expect(note).toBeTruthy()
        expect(hint).toBeTruthy()
      }),
    )
  })

  it('never makes a pass or fail of any other value of status', () => {
    const isVerdict = (value: unknown) => typeof value === 'string' && /^\s*(pass|fail)\s*$/i.test(value)
    const other = fc.jsonValue().filter((value) => !isVerdict(value))
    fc.assert(
      fc.property(other, fc.constantFrom('', 'log\n'), (status, before) => {
        expect(parse(`${before}${JSON.stringify({ status })}`).status).toBe('unknown')
      }),
    )
  })

  it('never passes unless an object with the status pass was printed', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(braces, fc.constantFrom('{"status":"fail"}', '\n'))), (parts) => {
        const text = parts.join('')
        if (parse(text).status === 'pass') expect(text).toContain('{"status":"pass"}')
        if (text.replaceAll('\u001b', '') === '{"status":"fail"}') expect(parse(text).status).toBe('fail')
      }),
    )
  })

  it.each([
    ['opening braces', '{'],
    ['pairs', '{}'],
    ['objects', '{"status":1}'],
    ['nested quotes', '{"\\"'],
    ['quotes that never close', '{ \\"'],
    ['terminal strings that never end', '\u009d'],
    ['escapes', '\u001b]'],
    ['escapes with parameters', '\u001b[1;'],
  ])('takes no longer for a million bytes of %s', (_what, unit) => {
    const stdout = bytes(unit.repeat((1 << 20) / bytes(unit).length))
    const begun = performance.now()
    expect(parseVerifierOutput(stdout).status).toBe('unknown')
    expect(performance.now() - begun).toBeLessThan(20_000)
  })
})
