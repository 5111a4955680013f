;(() => {
  // An imitation of the structured clone over JSON, without cycles: bindings and evaluation carry text only.
  const toBase64 = (bytes) => {
    let text = ''
    for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768))
    return btoa(text)
  }
  const fromBase64 = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  const tagged = (kind, value) => ({ $: kind, value })
  const pack = (value) => {
    if (value === undefined) return tagged('undefined')
    if (typeof value === 'bigint') return tagged('bigint', String(value))
    if (typeof value === 'function' || typeof value === 'symbol') throw new Error('An object could not be cloned.')
    if (typeof value === 'number' && !Number.isFinite(value)) return tagged('number', String(value))
    if (value === null || typeof value !== 'object') return value
    if (value instanceof Date) return tagged('date', value.getTime())
    if (value instanceof ArrayBuffer) return tagged('buffer', toBase64(new Uint8Array(value)))
    if (ArrayBuffer.isView(value))
      return tagged('bytes', toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)))
    if (value instanceof Map) return tagged('map', [...value].map(pack))
    if (value instanceof Set) return tagged('set', [...value].map(pack))
    if (value instanceof Error) return tagged('error', [value.name, value.message])
    if (Array.isArray(value)) return value.map(pack)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, pack(member)]))
  }
  const make = {
    undefined: () => undefined,
    bigint: BigInt,
    number: Number,
    date: (value) => new Date(value),
    buffer: (value) => fromBase64(value).buffer,
    bytes: fromBase64,
    map: (value) => new Map(value.map(unpack)),
    set: (value) => new Set(value.map(unpack)),
    error: ([name, message]) => Object.assign(new Error(message), { name }),
  }
  const unpack = (value) => {
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(unpack)
    if (typeof value.$ === 'string' && Object.hasOwn(make, value.$)) return make[value.$](value.value)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unpack(member)]))
  }
  return { encode: (value) => JSON.stringify(pack(value)), decode: (text) => unpack(JSON.parse(text)) }
})()
