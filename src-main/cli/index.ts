/** The command line; its entry is main.ts. What it is made of is offered to those who describe it. */
export { createProgram } from './program.ts'
