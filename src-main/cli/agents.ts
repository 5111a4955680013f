/** What programs that run whole inside the sandbox are given of our environment: what a terminal needs, and their keys. */

/** For every program. */
const COMMON = [
  'TERM',
  'COLORTERM',
  'TERM_PROGRAM',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
]

/** For the agents that are known by the name of their program; a prefix ends with `*`. */
const AGENTS: Record<string, readonly string[]> = {
  claude: ['ANTHROPIC_*', 'CLAUDE_CODE_*'],
  codex: ['OPENAI_*', 'CODEX_*'],
  gemini: ['GEMINI_*', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT'],
  opencode: [
    'OPENCODE_*',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENROUTER_API_KEY',
    'GEMINI_API_KEY',
  ],
  aider: ['AIDER_*', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_API_BASE', 'OPENROUTER_API_KEY'],
}

/**
 * @param program the name of the program, without its folder
 * @returns variables of `env` that it is given; `own` are those that are for it alone, to be told to the person
 */
export function environmentFor(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): { variables: Record<string, string>; own: string[] } {
  const wanted = Object.hasOwn(AGENTS, program) ? (AGENTS[program] ?? []) : []
  const isOwn = (name: string) =>
    wanted.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))
  const variables: Record<string, string> = {}
  const own: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !(COMMON.includes(name) || isOwn(name))) continue
    variables[name] = value
    if (isOwn(name)) own.push(name)
  }
  return { variables, own: own.sort() }
}
