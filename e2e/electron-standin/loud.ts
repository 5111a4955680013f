/** Members that were not written must not be undefined in silence: the app would seem to work. */

/** @returns the target; reading a member that it does not have throws its name */
export function loud<T extends object>(target: T, name: string): T {
  return new Proxy(target, {
    get(of, key) {
      // `then` is asked of everything that is awaited, symbols of everything that is printed.
      if (!(key in of) && typeof key !== 'symbol' && key !== 'then')
        throw new Error(`electron stand-in: ${name}.${key} is not implemented`)
      // Bound, as private members are not found through a proxy.
      const member: unknown = Reflect.get(of, key, of)
      return typeof member === 'function' ? member.bind(of) : member
    },
  })
}
