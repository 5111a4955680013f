/**
 * The agents that Rewind knows by name: what window and command line both say of them. Imports nothing, so that everybody
 * can afford it.
 */

/** Those whose settings `rewind setup` writes. */
export const AGENTS = ['claude', 'codex', 'opencode', 'gemini'] as const
export type AgentName = (typeof AGENTS)[number]

export const agentTitles: Readonly<Record<AgentName, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  gemini: 'Gemini CLI',
}

/** Over MCP alone an agent's own tools still change the project itself: how they are switched off. */
export const ownToolsOff: Readonly<Record<AgentName, string>> = {
  claude:
    'Claude Code keeps its own shell and edit tools, which change the project itself: `claude --disallowedTools "Bash Edit Write NotebookEdit"` leaves it Rewind’s.',
  codex: '`codex --sandbox read-only` keeps its own commands from changing the project itself.',
  opencode:
    'opencode keeps its own shell and edit tools, which change the project itself: `"tools": { "bash": false, "edit": false, "write": false }` in a project’s opencode.json leaves it Rewind’s.',
  gemini:
    'Gemini CLI keeps its own shell and edit tools, which change the project itself: `"tools": { "exclude": ["run_shell_command", "write_file", "replace"] }` in a project’s .gemini/settings.json leaves it Rewind’s.',
}
