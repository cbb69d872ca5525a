// SPDX-License-Identifier: MIT
// The order of what a search finds: pages that teach, then the reference, then the
// records of decisions.  All but `score` is Sphinx's own.
var Scorer = {
  score: ([page, , , , score]) => {
    if (page.startsWith("decisions/")) return score - 1000;
    if (/^(tutorials|guide|howto)\/|^(quickstart|installation)$/.test(page)) return 3 * score;
    if (page.startsWith("how-it-works/")) return 2 * score;
    if (page.startsWith("reference/kernel/")) return score / 2;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
