/** The theme's --base (src-renderer/theme.css): the colour of a page that is still empty, so that nothing flashes. */
export const BACKGROUND = { light: '#fdfdfc', dark: '#181816' } as const
