/** All tools, in the order in which clients list them. */
import type { Tool } from '../tool.ts'
import { checkpointTools } from './checkpoints.ts'
import { commandTools } from './commands.ts'
import { commitTools } from './commits.ts'
import { escalationTools } from './escalations.ts'

import { fileTools } from './files.ts'
import { ledgerTools } from './ledger.ts'
import { memoryTools } from './memory.ts'
import { ruleTools } from './rules.ts'
import { sessionTools } from './sessions.ts'

export const tools: readonly Tool[] = [
  ...sessionTools,
  ...commandTools,
  ...fileTools,
  ...memoryTools,
  ...checkpointTools,
  ...ruleTools,
  ...escalationTools,
  ...commitTools,
  ...ledgerTools,
]
