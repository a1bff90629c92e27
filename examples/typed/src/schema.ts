import { defineFlags } from '@flags/core';

/** The flags of this application. Delete one here, and the compiler shows the code that is left over. */
export const schema = defineFlags(
  {
    checkout: { type: 'release', description: 'The new checkout' },
    banner: { description: 'Color of the banner', variants: { red: { color: 'string' }, blue: { color: 'string' } } },
    greeting: { variants: { short: 'string', long: 'string' } },
  },
  { environments: ['development', 'production'], context: { plan: ['free', 'pro'] } },
);

// For `request.flags`.
declare module '@flags/core' {
  interface RegisteredFlags {
    schema: typeof schema;
  }
}
