import { cutToDifference, type Difference } from '../model/differences.js';

/** Differences in words: "rollout 25 → 50". Long texts are cut to the part that differs. */
export function Differences({ list }: { readonly list: readonly Difference[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="differences">
      {list.map((difference) => {
        const { place, what } = difference;
        const { before, after } = cutToDifference(difference.before, difference.after);
        return (
          <li key={`${place} ${what} ${before} ${after}`}>
            {place && <span class="place">{place}</span>}
            <span class="what">{what}</span>
            {before !== undefined && <del>{before}</del>}
            {before !== undefined && after !== undefined && <span class="arrow">→</span>}
            {after !== undefined && <ins>{after}</ins>}
          </li>
        );
      })}
    </ul>
  );
}
