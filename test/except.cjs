// A filter of jest: leaves out the test files that FLAGS_EXCEPT names, a regular expression as jest itself matches it.
// For .ci/run, which runs those in full.
const excepted = new RegExp(process.env.FLAGS_EXCEPT, 'i');

module.exports = (paths) => ({ filtered: paths.filter((path) => !excepted.test(path)) });
