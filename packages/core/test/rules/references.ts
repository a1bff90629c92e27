/** The places most rules are told about. */
export const DEFAULT = { project: 'default' } as const;
export const CHECKOUT = { ...DEFAULT, flag: 'checkout' } as const;
export const DEVELOPMENT = { ...CHECKOUT, environment: 'development' } as const;
export const PRODUCTION = { ...CHECKOUT, environment: 'production' } as const;

/** Names that plain objects inherit members by; ordinary names to users. */
export const INHERITED_NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'] as const;
