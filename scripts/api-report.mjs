// Keeps a report of the public types of each package in packages/*/api, so that a review sees every change of the interface,
// and checks the exported names. Reads the declarations of the last build.
//
//   node scripts/api-report.mjs            fails if a report is out of date
//   node scripts/api-report.mjs --write    writes the reports
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { declarationsOf, entriesOf, PACKAGES, PUBLISHED, readManifest } from './pack/entries.mjs';
import { checkPublicNames } from './public-names.mjs';

const SILENT = { logLevel: 'none', addToApiReportFile: false };
const isWriting = process.argv.includes('--write');

const entries = PUBLISHED.flatMap((name) => {
  const folder = join(PACKAGES, name);
  // The declaration files of a package's entries.
  return entriesOf(readManifest(folder)).map(({ compiled }) => ({ folder, declarations: declarationsOf(compiled) }));
});
const files = entries.map(({ folder, declarations }) => join(folder, declarations));

const temporary = mkdtempSync(join(tmpdir(), 'api-report-'));
const outdated = [];
try {
  const configs = entries.map(configurationOf);
  // One program for all reports reads each file once.
  const compilerState = CompilerState.create(configs[0], { additionalEntryPoints: files.slice(1) });
  for (const [index, entry] of entries.entries()) report(entry, configs[index], compilerState);
} finally {
  rmSync(temporary, { recursive: true });
}

if (outdated.length > 0) {
  console.error(
    `The public types have changed: ${outdated.join(', ')}. Run npm run api:write, and review the difference.`,
  );
  process.exitCode = 1;
}

const violations = checkPublicNames(files);
if (violations.length > 0) {
  console.error(violations.join('\n'));
  process.exitCode = 1;
}

function configurationOf({ folder, declarations }) {
  const file = join(folder, declarations);
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: file,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: ['node'] },
          files: [file],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: reportOf(declarations),
        reportFolder: join(folder, 'api'),
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      // TypeDoc checks the comments.
      messages: {
        extractorMessageReporting: { default: SILENT, 'ae-undocumented': SILENT },
        tsdocMessageReporting: { default: SILENT },
      },
    },
    configObjectFullPath: join(folder, 'api-extractor.json'),
    packageJsonFullPath: join(folder, 'package.json'),
  });
}

/** Writes the report of an entry, or compares it with the one that is kept. */
function report({ folder, declarations }, config, compilerState) {
  Extractor.invoke(config, {
    compilerState,
    messageCallback: (message) => {
      message.handled = message.logLevel !== 'error';
    },
  });
  const name = reportOf(declarations);
  const report = withSortedUnions(readFileSync(join(temporary, `${name}.api.md`), 'utf8'));
  const kept = join(folder, 'api', `${name}.api.md`);
  if (isWriting) writeFileSync(kept, report);
  else if (!existsSync(kept) || readFileSync(kept, 'utf8') !== report) outdated.push(`${basename(folder)}/${name}`);
}

function reportOf(declarations) {
  return declarations.replace(/^\.\/dist\/|\.d\.ts$/g, '').replaceAll('/', '-');
}

/** Sorts the texts of unions: the compiler writes those of an inferred type in the order in which it has met them. */
function withSortedUnions(report) {
  return report.replaceAll(/"[^"\n]*"(?: \| "[^"\n]*")+/g, (union) => union.split(' | ').sort().join(' | '));
}
