import { describe, expect, test } from 'vitest'
import { CLIENTS, type Client, insideOf, isSetUp, snippetOf, toolsOff } from './snippets.ts'

const door = { url: 'http://127.0.0.1:4711/mcp', token: 'tok-en_1' }
const text = (client: Client, way: 'stdio' | 'http') => snippetOf(client, way, door).text

describe('what a client is given', () => {
  test.each(CLIENTS.map(({ client }) => client))('%s: over stdin the command, with no token', (client) => {
    const said = text(client, 'stdio')
    expect(said.replace(/["',\s[\]]+/g, ' ')).toMatch(/rewind.*mcp/)
    expect(said).not.toContain(door.token)
    expect(said).not.toContain('http')
  })

  test.each(CLIENTS.map(({ client }) => client))('%s: over HTTP the address, and the token as a header', (client) => {
    const said = text(client, 'http')
    expect(said).toContain(door.url)
    expect(said).toMatch(/Authorization"?\s*[:=]\s*"?Bearer tok-en_1/)
  })

  test.each(['opencode', 'gemini', 'cursor', 'vscode'] as const)('%s: what goes into a JSON file is JSON', (client) => {
    for (const way of ['stdio', 'http'] as const) expect(() => JSON.parse(text(client, way))).not.toThrow()
    expect(snippetOf(client, 'stdio', door).file).toMatch(/json$/)
  })

  test('each is told how its own tools are switched off, and those of a terminal how they run inside', () => {
    for (const { client } of CLIENTS) expect(toolsOff(client)).toContain('change the project itself'.slice(-14))
    expect(insideOf('claude')).toBe('rewind run -- claude')
    expect(insideOf('vscode')).toBeNull()
    expect(isSetUp('cursor')).toBe(false)
    expect(isSetUp('codex')).toBe(true)
  })
})
