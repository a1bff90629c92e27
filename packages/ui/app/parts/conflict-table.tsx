import type { FlagEnvironment } from '../api/types.js';
import { strategyNames, valueText, wordsOf } from '../model/history.js';
import type { Conflict } from '../state/edit.js';

interface ConflictTableProps {
  readonly flag: string;
  readonly conflict: Conflict;
  /** The newest strategies, whose names the table shows. */
  readonly environments?: readonly FlagEnvironment[];
}

/** Shows an edit conflict: the original value, both changed values, and the result. */
export function ConflictTable({ flag, conflict, environments = [] }: ConflictTableProps) {
  const names = strategyNames([], environments);
  const { choices, choose, discard, resolve } = conflict;
  const { conflicts, merged } = conflict.merge;
  return (
    <section class="card" aria-labelledby="conflict">
      <header class="card-head">
        <h2 id="conflict">Somebody else has changed {flag}</h2>
      </header>
      <p>Both of you have changed the same parts. Choose a version of each; everything else is merged.</p>
      <table class="plain conflict">
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">It was</th>
            <th scope="col">Theirs</th>
            <th scope="col">Yours</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {conflicts.map(({ path, base, theirs, mine }) => (
            <tr key={path}>
              <th scope="row">{wordsOf(path, names)}</th>
              <td>{textOf(path, base)}</td>
              <td>{textOf(path, theirs)}</td>
              <td>{textOf(path, mine)}</td>
              <td>
                <fieldset class="segmented">
                  <legend class="hidden">Result for {wordsOf(path, names)}</legend>
                  {(['theirs', 'mine'] as const).map((side) => (
                    <label key={side}>
                      <input
                        type="radio"
                        name={path}
                        checked={(choices.get(path) ?? 'mine') === side}
                        onChange={() => choose(path, side)}
                      />
                      {side === 'mine' ? 'Yours' : 'Theirs'}
                    </label>
                  ))}
                </fieldset>
              </td>
            </tr>
          ))}
          {merged.map(({ path, base, theirs, mine, result }) => (
            <tr key={path}>
              <th scope="row">{wordsOf(path, names)}</th>
              <td>{textOf(path, base)}</td>
              <td>{textOf(path, theirs)}</td>
              <td>{textOf(path, mine)}</td>
              <td>
                {textOf(path, result)} <span class="tag">merged</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer class="editor-foot">
        <button type="button" onClick={discard}>
          Discard mine
        </button>
        <span class="stretch" />
        <button type="button" class="primary" onClick={resolve}>
          Continue with the result
        </button>
      </footer>
    </section>
  );
}

const LONGEST = 80;

function textOf(path: string, value: unknown): string {
  const text = valueText(path, value) ?? 'none';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
