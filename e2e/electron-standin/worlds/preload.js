// The isolated world of the preload: ipcRenderer, contextBridge, and the preload itself. `codec`, `info`, `preload` in scope.
;(() => {
  const toMain = (message) => __standin(codec.encode(message))
  const ports = new Map()
  const waiting = new Map()
  let ids = 0

  /** Lends a port to the main process under an id. */
  const lend = (port) => {
    const id = `page-${++ids}`
    ports.set(id, port)
    port.onmessage = (event) => toMain({ type: 'port', id, data: event.data })
    port.onclose = () => toMain({ type: 'close', id })
    return id
  }
  const fromMain = {
    port: ({ id, data }) => ports.get(id)?.postMessage(data),
    close({ id }) {
      ports.get(id)?.close()
      ports.delete(id)
    },
    result({ id, value, error, channel }) {
      const { resolve, reject } = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) resolve(value)
      else reject(new Error(`Error invoking remote method '${channel}': ${error}`))
    },
  }
  globalThis.__standinDispatch = (batch) => {
    for (const message of codec.decode(batch)) fromMain[message.type](message)
  }

  const loud = (target, name) =>
    new Proxy(target, {
      get(of, key) {
        if (key in of) return of[key]
        throw new Error(`electron stand-in: ${name}.${String(key)} is not implemented`)
      },
    })
  const ipcRenderer = loud(
    {
      invoke: (channel, ...args) =>
        new Promise((resolve, reject) => {
          const id = ++ids
          waiting.set(id, { resolve, reject })
          toMain({ type: 'invoke', id, channel, args })
        }),
      postMessage: (channel, message, transfer = []) =>
        toMain({ type: 'post', channel, message, portIds: transfer.map(lend) }),
    },
    'ipcRenderer',
  )

  const say = (type, detail) =>
    document.dispatchEvent(new CustomEvent(`standin:${type}`, { detail: codec.encode(detail) }))
  const hear = (type, listener) =>
    document.addEventListener(`standin:${type}`, (event) => listener(codec.decode(event.detail)))
  const exposed = new Map()
  const shapeOf = (value) => {
    if (typeof value === 'function') return { function: true }
    if (!value || Object.getPrototypeOf(value) !== Object.prototype) return { value }
    return { object: Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)])) }
  }
  const textOf = (error) => String(error?.message ?? error)
  hear('call', ({ id, path, args }) => {
    const answer = (result) => say('result', { id, ...result })
    try {
      const value = path.slice(1).reduce((of, key) => of[key], exposed.get(path[0]))(...args)
      if (typeof value?.then !== 'function') return answer({ value })
      answer({ pending: true })
      value.then(
        (settled) => answer({ value: settled }),
        (error) => answer({ error: textOf(error) }),
      )
    } catch (error) {
      answer({ error: textOf(error) })
    }
  })
  hear('open', (url) => toMain({ type: 'open', url }))
  const input = (kind) => (event) => event.isTrusted && toMain({ type: 'input', kind, event: event.type })
  document.addEventListener('mousedown', input('mouse'), true)
  document.addEventListener('mouseup', input('mouse'), true)
  document.addEventListener('keydown', input('key'), true)

  const contextBridge = loud(
    {
      exposeInMainWorld(name, api) {
        if (exposed.has(name))
          throw new Error(`Cannot bind an API on top of an existing property on the window object: ${name}`)
        exposed.set(name, api)
        say('expose', { name, shape: shapeOf(api) })
      },
    },
    'contextBridge',
  )
  // A sandboxed preload can require this much and no more.
  const require = (name) => {
    if (name === 'electron') return loud({ contextBridge, ipcRenderer }, 'electron')
    throw new Error(`module not found: ${name}`)
  }
  new Function('require', 'module', 'exports', 'process', preload)(require, { exports: {} }, {}, { ...info, env: {} })
})()
