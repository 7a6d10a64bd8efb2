
// The exact worst case: at most m labels are wrong, wherever they are. lost: the label says the baseline is right.
const worstCase = ({ lost, won, neither }, m) => {
  const turned = Math.min(m, won);
  const taken = Math.min(m - turned, neither);
  return { lost: lost + turned + taken, won: won - turned, gap: won - lost - 2 * turned - taken };
};

// ln Gamma(x) for x > 0: Stirling's series, after a shift to where it is accurate to rounding.
const logGamma = (x) => {
  let shift = 0;
  while (x < 12) shift += Math.log(x++);
  const y = 1 / (x * x);
  const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
};

// P(X >= k) for X binomial(n, 1/2): the terms from the largest on, each from the one before, until they do not count.
const binomialTail = (n, k) => {
  if (k <= 0) return 1;
  if (k > n) return 0;
  if (2 * k <= n) return 1 - binomialTail(n, n - k + 1); // by symmetry: the smaller tail is summed
  let term = Math.exp(logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1) - n * Math.LN2);
  let sum = 0;
  for (let i = k; i <= n && term > 1e-17 * sum; i += 1) {
    sum += term;
    term *= (n - i) / (i + 1);
  }
  return Math.min(1, sum);
};

// McNemar's exact test, one-sided: that the candidate is not better.
const mcnemar = ({ lost, won }) => binomialTail(lost + won, won);
