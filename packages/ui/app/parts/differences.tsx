import type { Difference } from '../model/differences.js';

/** Differences in words: "rollout 25 → 50". */
export function Differences({ list }: { readonly list: readonly Difference[] }) {
  return (
    <ul class="differences">
      {list.map(({ place, what, before, after }) => (
        <li key={`${place} ${what} ${before} ${after}`}>
          <span class="place">{place}</span>
          <span class="what">{what}</span>
          {before !== undefined && <del>{before}</del>}
          {before !== undefined && after !== undefined && <span class="arrow">→</span>}
          {after !== undefined && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
}
