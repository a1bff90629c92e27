import { type DefinedFlag, type Definitions, isFlagsError, memoryStorage, openFlags } from '@flags/core';
import type { DefinedSegment } from '@flags/core/types';
import { type Report, toName } from './importer.js';

/**
 * Leaves out flags that the store would refuse, so that they do not stop the import, with the flags that need a segment or
 * a flag which is left out. An engine in memory checks each alone, because the engine owns the rules.
 */
export async function leaveOutRefused(
  { flags = [], segments = [], ...rest }: Definitions,
  environments: readonly string[],
  report: Report,
): Promise<Definitions> {
  const engine = await openFlags({
    storage: memoryStorage(),
    environments: environments.map((name) => ({ name })),
    due: { run: 'elsewhere' },
  });
  try {
    const refusalOf = (definitions: Omit<Definitions, 'version'>) =>
      engine.definitions.import({ version: 1, ...definitions }, { dryRun: true }).then(() => undefined, toRefusal);
    const kept: DefinedSegment[] = [];
    const refused = new Set<string | number>();
    for (const segment of segments) {
      const refusal = await refusalOf({ segments: [{ ...segment, project: null }] });
      if (refusal === undefined) kept.push(segment);
      else {
        refused.add(segment.name);
        report.add(`The segment ${segment.name}: ${refusal}. It is left out, with the flags that use it.`);
      }
    }
    const accepted: DefinedFlag[] = [];
    for (const flag of flags) {
      const missing = segmentsOf(flag).find((segment) => refused.has(segment));
      const refusal =
        missing === undefined ? await refusalOf({ flags: [alone(flag)] }) : `it uses the segment ${missing}`;
      if (refusal === undefined) accepted.push(flag);
      else report.leaveOut(flag.name, refusal);
    }
    const members = { ...rest, ...(kept.length > 0 && { segments: kept }) };
    return { ...members, flags: leaveOutChildren(accepted, report) };
  } finally {
    await engine.close();
  }
}

/** The flag without its references. Leaves out the type, too: the application of the store may have configured it. */
function alone({ project: _project, type: _type, dependencies: _dependencies, ...flag }: DefinedFlag): DefinedFlag {
  const environments = Object.entries(flag.environments ?? {}).map(([name, { strategies, ...environment }]) => {
    const without = strategies?.map(({ segments: _segments, ...strategy }) => strategy);
    return [name, { ...environment, ...(without && { strategies: without }) }] as const;
  });
  return { ...flag, environments: Object.fromEntries(environments) };
}

function segmentsOf({ environments = {} }: DefinedFlag): readonly (string | number)[] {
  return Object.values(environments).flatMap(({ strategies = [] }) => strategies.flatMap((one) => one.segments ?? []));
}

/** Leaves out flags whose parents are left out. A parent has no parents itself, but a file may say so. */
function leaveOutChildren(flags: readonly DefinedFlag[], report: Report): readonly DefinedFlag[] {
  const left = new Set(report.leftOut.map(toName));
  for (const { name } of flags) left.delete(name);
  const parentOf = ({ dependencies = [] }: DefinedFlag) => dependencies.find(({ flag }) => left.has(flag))?.flag;
  const orphans = flags.filter((flag) => parentOf(flag) !== undefined);
  if (orphans.length === 0) return flags;
  for (const flag of orphans) report.leaveOut(flag.name, `it depends on ${parentOf(flag)}, which is left out`);
  return leaveOutChildren(
    flags.filter((flag) => !orphans.includes(flag)),
    report,
  );
}

function toRefusal(error: unknown): string {
  if (!isFlagsError(error)) throw error;
  const [detail] = error.details;
  if (!detail?.path) return error.message.replace(/\.$/, '');
  return `${detail.path.replace(/^\/(flags|segments)\/0\//, '')} ${detail.message}`;
}
