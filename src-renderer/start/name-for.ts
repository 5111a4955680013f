import { leaf } from '../elements/format.ts'

/** A session's name from its folder: `login-service`. */
export const nameFor = (workspace: string): string =>
  leaf(workspace.replace(/\/+$/, ''))
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 64) || 'rewind_sandbox'
