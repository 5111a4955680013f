import { expect, test } from 'vitest'
import { CancelledError, EngineUnavailableError, type ImageProgress } from '../contract/index.ts'
import { Images, type MakeImage } from './images.ts'

/** The making of one image at a time, under the test's hands. No engine. */
function underHand() {
  const calls: {
    name: string
    tell(text: string): void
    done(): void
    fail(error: Error): void
    signal: AbortSignal
  }[] = []
  const make: MakeImage = (name, { onProgress, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => reject(new CancelledError('called off')))
    calls.push({ name, tell: (text) => onProgress({ text, fraction: null }), done: resolve, fail: reject, signal })
    return promise
  }
  return { images: new Images(make), calls }
}

async function told(stream: AsyncGenerator<ImageProgress>): Promise<string[]> {
  const texts: string[] = []
  for await (const { text } of stream) texts.push(text)
  return texts
}

test('two who ask for an image have it made once, and both are told', async () => {
  const { images, calls } = underHand()
  const both = [told(images.ensure('one')), told(images.ensure('one'))]
  await expect.poll(() => calls.length).toBe(1)
  calls[0]?.tell('half')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(images.busy).toBe(true)
  expect([images.newest('one'), images.newest('another')]).toEqual([{ text: 'half', fraction: null }, null])
  calls[0]?.done()
  expect(await Promise.all(both)).toEqual([['half'], ['half']])
  expect(images.busy).toBe(false)
  expect(images.newest('one')).toBeNull()
  expect(calls).toHaveLength(1)
})

test('one who leaves calls nothing off; the last one does', async () => {
  const { images, calls } = underHand()
  const first = new AbortController()
  const second = new AbortController()
  const both = [told(images.ensure('one', first.signal)), told(images.ensure('one', second.signal))]
  await expect.poll(() => calls.length).toBe(1)
  first.abort()
  await both[0]
  expect(calls[0]?.signal.aborted).toBe(false)
  second.abort()
  await both[1]
  expect(calls[0]?.signal.aborted).toBe(true)
  await expect.poll(() => images.busy).toBe(false)
})

test('who stops reading calls it off too', async () => {
  const { images, calls } = underHand()
  const stream = images.ensure('one')
  const first = stream.next()
  calls[0]?.tell('half')
  expect((await first).value).toMatchObject({ text: 'half' })
  await stream.return(undefined)
  expect(calls[0]?.signal.aborted).toBe(true)
})

test('who comes while it is being called off has it made anew', async () => {
  const { images, calls } = underHand()
  const stop = new AbortController()
  const first = told(images.ensure('one', stop.signal))
  await expect.poll(() => calls.length).toBe(1)
  stop.abort()
  await first
  const second = told(images.ensure('one'))
  await expect.poll(() => calls.length).toBe(2)
  calls[1]?.done()
  expect(await second).toEqual([])
})

test('what goes wrong reaches everybody, and the next one begins anew', async () => {
  const { images, calls } = underHand()
  const both = [images.ensured('one'), images.ensured('one')]
  await expect.poll(() => calls.length).toBe(1)
  calls[0]?.fail(new EngineUnavailableError('no network'))
  for (const one of both) await expect(one).rejects.toThrow('no network')
  const again = images.ensured('one')
  await expect.poll(() => calls.length).toBe(2)
  calls[1]?.done()
  await again
})

test('much that is said at once is told once, and the last of it', async () => {
  const { images, calls } = underHand()
  const all = told(images.ensure('one'))
  await expect.poll(() => calls.length).toBe(1)
  for (let n = 0; n < 1000; n++) calls[0]?.tell(`line ${n}`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  calls[0]?.done()
  const texts = await all
  expect(texts.length).toBeLessThan(5)
  expect(texts.at(-1)).toBe('line 999')
})
