/** What each procedure is given, without the session's name: the contract's inputs after parsing, defaults filled in. */
import type { AnySchema, ContractProcedure, ErrorMap, InferSchemaOutput, Meta } from '@orpc/contract'
import type { contract } from '../contract/index.ts'

type Parsed<P> =
  P extends ContractProcedure<infer Input extends AnySchema, AnySchema, ErrorMap, Meta>
    ? Omit<InferSchemaOutput<Input>, 'session'>
    : { [K in keyof P]: Parsed<P[K]> }

export type Inputs = Parsed<typeof contract>
