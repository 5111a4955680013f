/**
 * Takes secrets out of texts that are kept or leave the machine: the values of the environment that a session was given,
 * and what has the shape of a token. What stands there instead says what it was.
 */

/** Shorter values occur in any text: hiding them would hide nothing and spoil everything. */
const SHORTEST = 6

/** Of a value of several lines each that is as long is looked for alone, too; so many of them. */
const SHORTEST_LINE = 16
const MOST_LINES = 200

/** Values that say nothing of whoever set them. */
const PLAIN = /^(?:true|false|null|none|yes|no|\d{1,8}|production|development|staging|test(?:ing)?)$/i

/**
 * What is looked through may be written to be slow: each pattern begins at one place within a run of its characters, and
 * takes no more of them than any token has.
 */
const TOKENS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /\bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,1024}/g,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,1024}/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,1024}/g,
  /\bgithub_pat_[A-Za-z0-9_]{30,1024}/g,
  /\bglpat-[A-Za-z0-9_-]{20,1024}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,1024}/g,
  /\bnpm_[A-Za-z0-9]{30,1024}/g,
  /\bpypi-[A-Za-z0-9_-]{40,4096}/g,
  /\bhf_[A-Za-z0-9]{30,1024}/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,65536}\.[A-Za-z0-9_-]{8,4096}/g,
]

/** @param env what the session was given */
export function redactor(env: Readonly<Record<string, string>>): (text: string) => string {
  // Longer ones first: one value may be a part of another.
  const secrets = Object.entries(env)
    .flatMap(([name, value]) => writings(value).map((writing) => [name, writing] as const))
    .sort(([, a], [, b]) => b.length - a.length)
  return (text) => {
    let clean = text
    for (const [name, writing] of secrets) clean = clean.replaceAll(writing, () => `[redacted: ${name}]`)
    for (const token of TOKENS) clean = clean.replace(token, '[redacted: token]')
    return clean
  }
}

/** How a value stands in texts: as it is, line by line, and so within JSON, which may be kept to ASCII. */
function writings(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim())
  const long = lines.filter((line) => line.length >= SHORTEST_LINE).slice(0, MOST_LINES)
  const parts = [value, value.trim(), ...long].filter((part) => part.length >= SHORTEST && !PLAIN.test(part))
  return [
    ...new Set(
      parts.flatMap((part) => {
        const json = JSON.stringify(part).slice(1, -1)
        return [part, json, json.replace(/[^ -~]/g, escapedLetter)]
      }),
    ),
  ]
}

const escapedLetter = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
