import { describePath, describeValue } from '@flags/core/admin';
import type { FlagEnvironment } from '../../api/types.js';
import type { Conflict } from '../../state/edit.js';
import { Button, Segmented } from '../control/controls.js';
import { Card } from '../frame/screen.js';
import { Table } from '../list/table.js';
import { namesFor } from './differences.js';

interface ConflictTableProps {
  readonly flag: string;
  readonly conflict: Conflict;
  /** The newest strategies, whose names the table shows. */
  readonly environments?: readonly FlagEnvironment[];
}

/** Shows an edit conflict: the original value, both changed values, and the result. */
export function ConflictTable({ flag, conflict, environments = [] }: ConflictTableProps) {
  const names = namesFor([{ environments }]);
  const textOf = (path: string, value: unknown) => {
    const text = describeValue(path, value, names) ?? 'none';
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  };
  const { choices, choose, discard, resolve } = conflict;
  const { conflicts, merged } = conflict.merge;
  const sideOf = (path: string) => choices.get(path) ?? 'mine';
  const rows = [
    ...conflicts.map((one) => ({ ...one, result: undefined, isOpen: true })),
    ...merged.map((one) => ({ ...one, isOpen: false })),
  ];
  return (
    <Card title={`Somebody else has changed ${flag}`}>
      <p>Both of you have changed the same parts. Choose a version of each; everything else is merged.</p>
      <Table
        class="plain conflict"
        items={rows}
        keyOf={({ path }) => path}
        columns={[
          { title: 'Part', cell: ({ path }) => describePath(path, names) },
          { title: 'It was', cell: ({ path, base }) => textOf(path, base) },
          { title: 'Theirs', cell: ({ path, theirs }) => textOf(path, theirs) },
          { title: 'Yours', cell: ({ path, mine }) => textOf(path, mine) },
          {
            title: 'Result',
            cell: ({ path, result, isOpen }) =>
              isOpen ? (
                <Segmented
                  legend={`Result for ${describePath(path, names)}`}
                  name={path}
                  value={sideOf(path)}
                  options={[
                    ['theirs', 'Theirs'],
                    ['mine', 'Yours'],
                  ]}
                  onChange={(side) => choose(path, side)}
                />
              ) : (
                <>
                  {textOf(path, result)} <span class="tag">merged</span>
                </>
              ),
          },
        ]}
      />
      <footer class="editor-foot">
        <Button onClick={discard}>Discard mine</Button>
        <Button class="primary" onClick={resolve}>
          Continue with the result
        </Button>
      </footer>
    </Card>
  );
}

const LONGEST = 80;
