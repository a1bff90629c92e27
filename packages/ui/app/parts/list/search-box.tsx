import { query, setQuery } from '../../router.js';
import { useAction } from '../../state/page-actions.js';
import { Icon } from '../control/icons.js';

interface SearchBoxProps {
  readonly label: string;
  readonly placeholder?: string;
}

/** A filter field whose text is in the URL. */
export function SearchBox({ label, placeholder = `${label}…` }: SearchBoxProps) {
  return (
    <search class="search-box">
      <Icon name="search" />
      <input
        type="search"
        ref={useAction<HTMLInputElement>(label, true)}
        aria-label={label}
        placeholder={placeholder}
        value={query.value.get('q') ?? ''}
        onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
      />
    </search>
  );
}
