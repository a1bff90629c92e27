// The elements of the page are calls of `h`: they compress better than the objects of the automatic runtime.
export { Fragment, h } from 'preact';
