/** How conversations and the formats of their messages are named. Imports nothing, so that everybody can afford it. */

/** The conversation that is meant where nobody names another. */
export const MAIN = 'main'

/** The ways in which histories are written, as they are kept. */
export const storedFormats = ['openai', 'openai-responses', 'anthropic', 'langchain', 'vercel'] as const

/** As a client names them: `dict` is openai; `auto` looks at what comes in, and gives out what is kept. */
export const messageFormats = ['auto', 'dict', ...storedFormats] as const
