// Disables each AsyncLocalStorage that a test file has created, jest's own included. Up to Node 22 every promise takes along
// the stores of all that are enabled, and an enabled one is never collected: without this, a worker slows down with every
// file, to a tenth of its speed, and holds 10 MB of each.
const asyncHooks = require('node:async_hooks');
const { setFlagsFromString } = require('node:v8');
const { TestEnvironment } = require('jest-environment-node');

// Each file loads the sources again, so most functions run too few times to be worth optimizing. At about ten times the
// default, V8 optimizes only those that run often.
setFlagsFromString('--interrupt-budget=600000');

const { AsyncLocalStorage } = asyncHooks;

module.exports = class Environment extends TestEnvironment {
  storages = [];

  async setup() {
    await super.setup();
    const { storages } = this;
    asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
      constructor(...options) {
        super(...options);
        storages.push(this);
      }
    };
  }

  async teardown() {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    for (const storage of this.storages) storage.disable();
    await super.teardown();
  }
};
