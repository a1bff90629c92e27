import { checkTypes } from '../../../../test/type-check.js';
import { codeBlocks, read } from './documents.js';

/** Documents whose code is one program, and what it expects of its host. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'README.md js': '',
  'docs/evaluating-elsewhere.md ts': '',
  'docs/flags-as-code.md ts': '',
  'docs/getting-started.md ts': '',
  'docs/hear-of-changes.md js': 'declare const queue: { publish(message: object): Promise<void> };',
  'docs/more-services.md js': '',
  'docs/nextjs.md ts': '',
  'docs/safe-changes.md js': [
    'declare function isStillEditor(name: string, documents: readonly object[]): Promise<boolean>;',
    'declare function errorRate(flag: string, since: string, signal: AbortSignal): Promise<number>;',
  ].join('\n'),
  'docs/testing.md ts': '',
  'docs/typed-api.md js': '',
  'docs/typed-api.md ts': '',
  'packages/core/README.md js': '',
  'packages/express/README.md ts': '',
  'packages/http/README.md js': '',
  'packages/openfeature/README.md js': '',
  'packages/opentelemetry/README.md js': '',
  'packages/ui/README.md js': '',
  'site/index.md js': '',
};

it('compiles by the strict rules of TypeScript', () => {
  const programs = Object.entries(PROGRAMS).map(([name, host]) => {
    const [path = '', language = ''] = name.split(' ');
    return [name, [...codeBlocks(read(path), language), host].join('\n')];
  });
  expect(checkTypes(__dirname, Object.fromEntries(programs)).errors).toEqual([]);
});
