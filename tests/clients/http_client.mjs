// What sparql-http-client makes of the endpoint, as JSON. Arguments: addresses of both instances, the queries as JSON.
import ParsingClient from 'sparql-http-client/ParsingClient.js';
import fetch from 'nodeify-fetch';
import SimpleClient from 'sparql-http-client/SimpleClient.js';
import StreamClient from 'sparql-http-client';

const [served, strict, queries] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4])];
const addresses = base => ({ endpointUrl: `${base}/sparql`, storeUrl: `${base}/graphs`, updateUrl: `${base}/sparql` });
const client = new StreamClient(addresses(served));
const simple = new SimpleClient(addresses(served));
const parsing = new ParsingClient(addresses(served));
const limited = new StreamClient(addresses(strict));
const unparsed = new SimpleClient(addresses(strict));
const lines = { headers: { accept: 'application/n-triples' } };
const graph = (name, base = served) => client.factory.namedNode(`${base}/graph/${name}`);

function plain(term) {
  return { type: term.termType, value: term.value, language: term.language, datatype: term.datatype?.value };
}

async function count(stream) {
  let n = 0;
  for await (const _ of stream) n++;
  return n;
}

async function rows(stream) {
  const found = [];
  for await (const row of stream) found.push(Object.fromEntries(Object.entries(row).map(([key, term]) => [key, plain(term)])));
  return found;
}

async function attempt(call) {
  try {
    return { value: await call() };
  } catch (error) {
    return { error: String(error), status: error.status };
  }
}

// It does not see that a connection breaks off: its stream neither ends nor fails, also not a second later.
async function patient(query) {
  let closed;
  const broken = new Promise(resolve => { closed = resolve; });
  const watched = async (...words) => {
    const answer = await fetch(...words);
    answer.body.once('close', () => setTimeout(closed, 1000, 'waits'));
    return answer;
  };
  return Promise.race([count(new StreamClient({ ...addresses(strict), fetch: watched }).query.select(query)), broken]);
}

// Where it handles no error of its stream, Node.js ends the process, unless somebody listens here.
function uncaught() {
  return new Promise(resolve => process.once('uncaughtException', error => resolve({ uncaught: error.code })));
}

const ways = {};
for (const operation of ['get', 'postUrlencoded', 'postDirect']) {
  ways[operation] = {
    select: await rows(client.query.select(queries.kinds, { operation })),
    construct: await count(client.query.construct(queries.construct, { operation })),
    ask: [await client.query.ask(queries.yes, { operation }), await client.query.ask(queries.no, { operation })],
  };
}
const results = {
  ways,
  long: await count(client.query.select(queries.long)),
  parsed: [(await parsing.query.select(queries.kinds)).length, (await parsing.query.construct(queries.describe)).size],
  csv: await (await simple.query.select(queries.count, { headers: { accept: 'text/csv' } })).text(),
  graph: await count(client.store.get(graph('kinds'))),
  everything: await count(client.store.get(client.factory.defaultGraph())),
  unknown: await attempt(() => count(client.store.get(graph('none')))),
  write: await attempt(() => client.store.put(client.store.get(graph('kinds')), { graph: graph('kinds') })),
  syntax: await attempt(() => count(client.query.select('SELECT * { ?s ?p }'))),
  update: await attempt(() => client.query.update('CLEAR ALL')),
  slow: await attempt(() => count(new StreamClient({ endpointUrl: `${served}/sparql?timeout=0.3` }).query.select(queries.slow))),
  truncated: await attempt(() => patient(queries.long)),
  truncatedGraph: await Promise.race([attempt(() => count(limited.query.construct(queries.large))), uncaught()]),
  truncatedLines: await attempt(() => count(limited.query.construct(queries.large, lines))),
  truncatedStore: await attempt(() => count(limited.store.get(limited.factory.defaultGraph()))),
  truncatedText: {
    select: await attempt(async () => (await unparsed.query.select(queries.long)).json()),
    construct: await attempt(async () => (await unparsed.query.construct(queries.large)).text()),
  },
};
console.log(JSON.stringify(results));
process.exit(0);
