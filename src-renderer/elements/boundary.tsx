/** Keeps a fault of one pane in that pane: the rest of the window goes on. */
import { Component, type ReactNode } from 'react'
import { Problem } from './problem.tsx'

interface Props {
  name: string
  children: ReactNode
}

export class Boundary extends Component<Props, { fault: Error | null }> {
  override state: { fault: Error | null } = { fault: null }

  static getDerivedStateFromError(fault: unknown): { fault: Error } {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) }
  }

  override render(): ReactNode {
    const { fault } = this.state
    if (!fault) return this.props.children
    return (
      <Problem
        message={`${this.props.name} could not be drawn: ${fault.message}`}
        nextStep="Nothing in the session was touched. Draw it again, or reload the window."
        again={() => this.setState({ fault: null })}
        againLabel="Draw again"
      />
    )
  }
}
