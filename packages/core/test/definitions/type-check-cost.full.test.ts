import { resolve } from 'node:path';
import { checkTypes } from '../../../../test/type-check.js';

const SOURCES = resolve(__dirname, '../../src');

/** A program that declares flags and uses each of them. */
function programWith(count: number): string {
  const numbers = Array.from({ length: count }, (_, at) => at);
  const declarations = numbers.map((at) =>
    at % 2 === 0
      ? `f${at}: { type: 'release', description: 'Flag ${at}' },`
      : `f${at}: { variants: { red: { color: 'string', size: 'number?' }, blue: { color: 'string' } } },`,
  );
  const uses = numbers.map((at) =>
    at % 2 === 0
      ? `flags.isEnabled('f${at}', { plan: 'pro' });`
      : `flags.getVariant('f${at}').name satisfies 'red' | 'blue' | 'disabled'; flags.getPayload('f${at}')?.color.length;`,
  );
  return `
    import { openFlags } from '${SOURCES}/open-flags.js';
    import type { Flags } from '${SOURCES}/flags.js';
    import { defineFlags } from '${SOURCES}/typed-flags/define-flags.js';
    import { memoryStorage } from '${SOURCES}/storage/memory/storage.js';
    const schema = defineFlags({ ${declarations.join('\n')} }, { context: { plan: ['free', 'pro'] } });
    const flags = await openFlags({ storage: memoryStorage(), schema });
    const mine = flags.forContext({ plan: 'free' });
    export const same: Flags = flags;
    export const on = mine.isEnabled('f0');
    ${uses.join('\n')}
  `;
}

const check = (text: string) => checkTypes(__dirname, { program: text });

it('costs the compiler little per declared flag', () => {
  const { errors, instantiations } = check(programWith(500));
  expect(errors).toEqual([]);
  // Constant per flag: a quadratic type would need hundreds of times as many.
  expect(instantiations / 500).toBeLessThan(200);
});

it('tells in one line that an environment is an option', () => {
  const misplaced = "flags.isEnabled('f0', { environment: 'production' });";
  const { errors } = check(`${programWith(2)} ${misplaced}`);
  expect(errors).toEqual([
    "program: Object literal may only specify known properties, and 'environment' does not exist in type 'PassEnvironmentAsOption'.",
  ]);
});
