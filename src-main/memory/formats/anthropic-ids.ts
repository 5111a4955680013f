/** Ids of calls as Anthropic takes them: of its own characters, and none twice in a request. */

export const isCallId = (id: string): boolean => /^[a-zA-Z0-9_-]+$/.test(id)

/** Gives the calls of a conversation such ids, the ones that they have where these will do, and their results the same. */
export class CallIds {
  readonly #given = new Set<string>()
  /** By the id in Anthropic's characters: the number that its last call was given. */
  readonly #numbers = new Map<string, number>()
  /** By the id that a call had: those of the nearest turn that made calls of it, and how many results came. */
  readonly #nearest = new Map<string, { turn: number; given: string[]; answered: number }>()

  /** @param turn what tells the turns of a conversation apart */
  ofCall(id: string, turn: number): string {
    const given = this.#free(allowed(id))
    const nearest = this.#nearest.get(id)
    if (nearest?.turn === turn) nearest.given.push(given)
    else this.#nearest.set(id, { turn, given: [given], answered: 0 })
    return given
  }

  ofResult(id: string): string {
    const nearest = this.#nearest.get(id)
    if (!nearest) return allowed(id)
    return nearest.given[nearest.answered++] ?? nearest.given.at(-1) ?? allowed(id)
  }

  #free(id: string): string {
    let number = this.#numbers.get(id) ?? 1
    let free = number === 1 ? id : `${id}_${number}`
    while (this.#given.has(free)) free = `${id}_${++number}`
    this.#numbers.set(id, number)
    this.#given.add(free)
    return free
  }
}

const allowed = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call'
