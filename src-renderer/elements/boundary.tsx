/** Keeps a fault of one pane in that pane: the rest of the window goes on. */
import { Component, type ReactNode } from 'react'
import { Problem } from './problem.tsx'

interface Props {
  name: string
  /** What is drawn; another one is drawn anew whatever became of the one before. */
  of?: string | null
  onFault?(): void
  children: ReactNode
}

interface State {
  fault: Error | null
  of: string | null
}

export class Boundary extends Component<Props, State> {
  override state: State = { fault: null, of: this.props.of ?? null }

  static getDerivedStateFromError(fault: unknown): Pick<State, 'fault'> {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) }
  }

  static getDerivedStateFromProps({ of = null }: Props, state: State): State | null {
    return of === state.of ? null : { fault: null, of }
  }

  override componentDidCatch(): void {
    this.props.onFault?.()
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
