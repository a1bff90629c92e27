// The library as its package bundles it: to bundle it once more would take longer than the rest of the site.
import url from 'mermaid/dist/mermaid.min.js?url';

let loading;

/** Loads the library once, for the first diagram: other pages do not load it. */
export function loadMermaid() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve(globalThis.mermaid);
    script.onerror = () => reject(new Error(`${url} cannot be loaded.`));
    document.head.append(script);
  });
  return loading;
}
