/** The references that most rules use. */
export const DEFAULT = { project: 'default' } as const;
export const CHECKOUT = { ...DEFAULT, flag: 'checkout' } as const;
export const DEVELOPMENT = { ...CHECKOUT, environment: 'development' } as const;
export const PRODUCTION = { ...CHECKOUT, environment: 'production' } as const;

/** Names of inherited members of objects, which are ordinary names for users. */
export const INHERITED_NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'] as const;
