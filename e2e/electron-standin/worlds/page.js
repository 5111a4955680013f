// The page's own world: receives what the preload exposes, as copies and functions that call through. `codec` is in scope.
;(() => {
  const say = (type, detail) =>
    document.dispatchEvent(new CustomEvent(`standin:${type}`, { detail: codec.encode(detail) }))
  const hear = (type, listener) =>
    document.addEventListener(`standin:${type}`, (event) => listener(codec.decode(event.detail)))
  const waiting = new Map()
  let calls = 0

  const call = (path, args) => {
    const id = ++calls
    let answer
    waiting.set(id, (result) => {
      answer = result
    })
    // Events are dispatched at once, so the preload's world has answered when this returns.
    say('call', { id, path, args })
    if (!answer) throw new Error('the preload did not answer')
    if (!answer.pending) {
      waiting.delete(id)
      if (answer.error !== undefined) throw new Error(answer.error)
      return answer.value
    }
    return new Promise((resolve, reject) =>
      waiting.set(id, (result) => {
        waiting.delete(id)
        if (result.error !== undefined) reject(new Error(result.error))
        else resolve(result.value)
      }),
    )
  }
  const build = (shape, path) => {
    if (shape.function) return (...args) => call(path, args)
    if (!shape.object) return shape.value
    const members = Object.entries(shape.object).map(([key, member]) => [key, build(member, [...path, key])])
    return Object.freeze(Object.fromEntries(members))
  }
  hear('result', (result) => waiting.get(result.id)?.(result))
  hear('expose', ({ name, shape }) =>
    Object.defineProperty(globalThis, name, { value: build(shape, [name]), enumerable: true }),
  )

  // New windows are the shell's to allow.
  const open = (url) => {
    say('open', String(new URL(url, location.href)))
    return null
  }
  globalThis.open = open
  document.addEventListener(
    'click',
    (event) => {
      const link = event.composedPath().find((node) => node.tagName === 'A' && node.target === '_blank')
      if (!link) return
      event.preventDefault()
      open(link.href)
    },
    true,
  )
})()
