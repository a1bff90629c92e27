import type { Conflict } from '../state/edit.js';
import { wordsOf } from './timeline.js';

interface ConflictTableProps {
  readonly flag: string;
  readonly conflict: Conflict;
}

/** Two people have changed one flag: what it was, what each of them has made of it, and the result. */
export function ConflictTable({ flag, conflict }: ConflictTableProps) {
  const { choices, choose, discard, resolve } = conflict;
  const { conflicts, merged } = conflict.merge;
  return (
    <section class="card" aria-labelledby="conflict">
      <header class="card-head">
        <h2 id="conflict">Somebody else has changed {flag}</h2>
      </header>
      <p>Both of you have changed the same parts. Choose what is to be; everything else is merged.</p>
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
              <th scope="row">{wordsOf(path)}</th>
              <td>{textOf(base)}</td>
              <td>{textOf(theirs)}</td>
              <td>{textOf(mine)}</td>
              <td>
                <fieldset class="segmented">
                  <legend class="hidden">Result for {wordsOf(path)}</legend>
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
              <th scope="row">{wordsOf(path)}</th>
              <td>{textOf(base)}</td>
              <td>{textOf(theirs)}</td>
              <td>{textOf(mine)}</td>
              <td>
                {textOf(result)} <span class="tag">merged</span>
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

function textOf(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
