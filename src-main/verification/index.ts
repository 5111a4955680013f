/** The verifier: what its output means, how often it is run, and how a verdict is told. */
export { type ParsedOutput, parseVerifierOutput } from './parse.ts'
export { formatVerificationResult, type VerificationResult } from './result.ts'
export { type RunCommand, runVerifier, type VerifierOptions, type VerifierRun } from './run.ts'
