import { query, setQuery } from '../router.js';
import { Icon } from './icons.js';

interface SearchBoxProps {
  readonly label: string;
  /** The query parameter that holds the text. */
  readonly name?: string;
}

/** A filter field whose text is in the URL. */
export function SearchBox({ label, name = 'q' }: SearchBoxProps) {
  return (
    <search class="search-box">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={`${label}…`}
        value={query.value.get(name) ?? ''}
        onInput={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
      />
    </search>
  );
}
