/**
 * The tools that the conformance suite calls by name, for this test alone: they stand behind the product's transport in
 * place of the product's own.
 */
import { inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** A picture of one red pixel, and a sound of no samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const resource = {
  type: 'resource' as const,
  resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'embedded' },
}
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const text = (said: string) => ({ type: 'text' as const, text: said })

export function fixtureServer(): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1.0.0' }, { capabilities: { tools: {}, logging: {} } })
  const answers = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio' as const, data: WAV, mimeType: 'audio/wav' }],
    test_embedded_resource: [resource],
    test_multiple_content_types: [text('Multiple content types test:'), image, resource],
  }
  for (const [name, content] of Object.entries(answers))
    server.registerTool(name, { description: 'answers what it always answers' }, () => ({ content }))

  server.registerTool('test_error_handling', { description: 'fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_progress', { description: 'tells how far it is' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100])
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `${progress} of 100` },
        })
    return { content: [text('done')] }
  })
  server.registerTool('test_tool_with_logging', { description: 'writes to the log' }, async ({ mcpReq }) => {
    for (const said of ['started', 'processing', 'completed']) await mcpReq.log('info', said)
    return { content: [text('done')] }
  })
  server.registerTool('test_logging_tool', { description: 'writes to the log' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'working')
    return { content: [text('done')] }
  })
  for (const name of ['test_missing_capability', 'test_streaming_elicitation'])
    server.registerTool(name, { description: 'asks back' }, () => inputRequired({ inputRequests: question(name) }))
  addPrompts(server)
  addResources(server)
  return server
}

const question = (name: string) =>
  name === 'test_missing_capability'
    ? { reply: inputRequired.createMessage({ messages: [{ role: 'user', content: text('well?') }], maxTokens: 10 }) }
    : { reply: inputRequired.elicit({ message: 'well?', requestedSchema: z.object({ yes: z.boolean() }) }) }

function addPrompts(server: McpServer): void {
  const said = (content: ReturnType<typeof text> | typeof image | typeof resource) => ({
    messages: [{ role: 'user' as const, content }],
  })
  server.registerPrompt('test_simple_prompt', { description: 'says one thing' }, () => said(text('a simple prompt')))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'says what it is given', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => said(text(`arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'holds a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => said({ ...resource, resource: { ...resource.resource, uri: resourceUri } }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'holds a picture' }, () => said(image))
}

function addResources(server: McpServer): void {
  const asText = (uri: URL, said: string, mimeType = 'text/plain') => ({
    contents: [{ uri: uri.href, mimeType, text: said }],
  })
  server.registerResource('text', 'test://static-text', { mimeType: 'text/plain' }, (uri) => asText(uri, 'static'))
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: PNG }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) =>
    asText(uri, JSON.stringify({ id }), 'application/json'),
  )
}
