/** Returns a ref that gives the style the height of its element, as a custom property of the page. */
export function trackHeight(property: `--${string}`): (element: HTMLElement | null) => void {
  const observer = new ResizeObserver(([entry]) => {
    const height = entry?.borderBoxSize[0]?.blockSize ?? 0;
    document.documentElement.style.setProperty(property, `${height}px`);
  });
  return (element) => {
    observer.disconnect();
    if (element) observer.observe(element, { box: 'border-box' });
    else document.documentElement.style.removeProperty(property);
  };
}
