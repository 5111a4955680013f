/** The best shell that a sandbox has, to be typed into. */
export const SHELL_COMMAND = 'exec "$(command -v bash || echo sh)"'
