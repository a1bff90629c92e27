// Keeps the pages of docs/reference the same as the code. After a build:
//
//   npm run reference          fails if a page is out of date
//   npm run reference:write    builds, and writes the pages
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from './reference/command-line.mjs';
import { endpoints } from './reference/endpoints.mjs';
import { errorCodes } from './reference/error-codes.mjs';
import { events } from './reference/events.mjs';
import { limits } from './reference/limits.mjs';
import { metrics } from './reference/metrics.mjs';
import { options } from './reference/options.mjs';
import { roles } from './reference/roles.mjs';
import { ROOT } from './reference/source.mjs';
import { tours } from './reference/tours.mjs';

const FOLDER = join(ROOT, 'docs/reference');
const NOTE = '<!-- Written by npm run reference:write. Change the code, not this page. -->\n';
const PAGES = {
  'command-line.md': commandLine,
  'endpoints.md': endpoints,
  'error-codes.md': errorCodes,
  'events.md': events,
  'limits.md': limits,
  'metrics.md': metrics,
  'options.md': options,
  'roles.md': roles,
  'tours.md': tours,
};

// The other pages of the folder are written by hand.
const isWritten = (name) => readFileSync(join(FOLDER, name), 'utf8').startsWith(NOTE);
const outdated = readdirSync(FOLDER).filter((name) => !Object.hasOwn(PAGES, name) && isWritten(name));
for (const [name, pageOf] of Object.entries(PAGES)) {
  const page = `${NOTE}\n${(await pageOf()).trimEnd()}\n`;
  const file = join(FOLDER, name);
  if (process.argv.includes('--write')) writeFileSync(file, page);
  else if (readFileSync(file, 'utf8') !== page) outdated.push(name);
}
if (outdated.length > 0) {
  console.error(
    `docs/reference is out of date: ${outdated.join(', ')}. Run npm run reference:write, and review the difference.`,
  );
  process.exitCode = 1;
}
