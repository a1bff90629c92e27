// The smallest test runner: `describe` and `it` as globals, for runtimes on which jest does not run.
const names = [];
const cases = [];

globalThis.describe = (name, body) => {
  names.push(name);
  body();
  names.pop();
};

globalThis.it = (name, body) => {
  cases.push({ name: [...names, name].join(' › '), body });
};

/** Runs all declared cases one after another. Prints the failures and a summary, and ends the process. */
export async function runAll() {
  let failed = 0;
  for (const { name, body } of cases) {
    try {
      await body.call(undefined);
    } catch (error) {
      failed += 1;
      console.error(`FAILED ${name}\n${error?.stack ?? error}`);
    }
  }
  console.log(`${cases.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 && cases.length > 0 ? 0 : 1);
}
