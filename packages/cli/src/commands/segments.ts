import { describeConstraint } from '@flags/core/admin';
import type { Segment, SegmentUse } from '@flags/http/wire';
import type { Command } from 'commander';
import type { CommandIo } from '../output.js';
import { type CommandSession, createAction } from '../session.js';

/** Adds `segments`: the segments, and the flags that use them. */
export function addSegmentCommands(program: Command, io: CommandIo): void {
  program
    .command('segments')
    .description('list segments, with their constraints and the flags that use them')
    .action(createAction(io, listSegments));
}

async function listSegments({ api, output, options: { project } }: CommandSession): Promise<void> {
  const { segments } = await api.get<{ readonly segments: readonly Segment[] }>('/segments');
  const listed = [];
  for (const segment of segments) {
    if (project !== undefined && segment.project !== project) continue;
    const { strategies } = await api.get<{ readonly strategies: readonly SegmentUse[] }>(
      `/segments/${segment.id}/strategies`,
    );
    listed.push({ ...segment, strategies });
  }
  output.json(listed);
  if (listed.length === 0) return output.line('There are no segments.');
  output.table(
    ['Id', 'Name', 'Project', 'Constraints', 'Used by'],
    listed.map(({ id, name, project: owner, constraints, strategies }) => [
      String(id),
      name,
      owner ?? 'all',
      constraints.map(describeConstraint).join('; ') || 'everybody',
      [...new Set(strategies.map(({ featureName, environment }) => `${featureName} in ${environment}`))].join(', ') ||
        'no flag',
    ]),
  );
}
