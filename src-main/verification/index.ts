/** The verifier: what its output means, how often it is run, and how a verdict is told. */
export { Askers } from './askers.ts'
export { decidedText, haltError, lateError, reasonOf, unknownError } from './decisions.ts'
export { askAtTerminal, questionText, type Shown } from './dialog.ts'
export { type ParsedOutput, parseVerifierOutput } from './parse.ts'
export { formatVerificationResult, type VerificationResult } from './result.ts'
export { type RunCommand, runVerifier, type VerifierOptions, type VerifierRun } from './run.ts'
