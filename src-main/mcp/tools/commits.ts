/** Taking work home: an agent may look at what a commit would write; the yes is a person's. */
import { z } from 'zod'
import { DeclinedError } from '../../contract/index.ts'
import { changeLetter } from '../../diff/index.ts'
import { defineTool, type Tool } from '../tool.ts'
import { countsField } from './shapes.ts'

/** Paths that one answer lists. */
const PATHS_LISTED = 500

const commit = defineTool({
  name: 'commit_sandbox',
  title: 'What a commit to the real project would write',
  description:
    'Shows what a commit would write to the real project, and what was changed there meanwhile. Only a person commits: ' +
    'ask yours to press Commit… in the window, or to run `rewind commit --session NAME`.',
  input: { dry_run: z.boolean().default(true).describe('false is refused: a person has to say yes') },
  output: {
    changes: z.array(
      z.object({
        path: z.string(),
        letter: z.string(),
        conflict: z.string().nullable().describe('how it meets what was changed in the real project'),
        obstacle: z.string().nullable().describe('why it cannot be written at all'),
        warning: z.string().nullable(),
      }),
    ),
    counts: countsField,
    conflicts: z.number(),
    warnings: z.array(z.string()),
    truncated: z.boolean().describe('more paths would be written than are listed'),
  },
  effect: 'reads',
  async run({ host, session }, { dry_run }) {
    const { name } = await host.sessions.get({ session })
    if (!dry_run)
      throw new DeclinedError('Only a person commits to the real project; nothing was written.', {
        nextStep: `Tell your user what you changed, and that \`rewind commit --session ${name}\`, or Commit… in the window, takes it home.`,
      })
    const { entries, counts, conflicts, warnings, truncated } = await host.commit.preview({ session })
    const changes = entries.slice(0, PATHS_LISTED).map(({ path, status, conflict, obstacle, warning }) => ({
      path,
      letter: changeLetter(status),
      conflict,
      obstacle,
      warning,
    }))
    return { data: { changes, counts, conflicts, warnings, truncated: truncated || entries.length > PATHS_LISTED } }
  },
})

export const commitTools: readonly Tool[] = [commit]
