"""The commentary on the tables of a full run. The numbers of the page come from results, the comments from here.

Empty texts are left out. A quick run shows none of them: they describe the full run.
"""

from __future__ import annotations

# Below the title of the page: what was found, in a paragraph or three.
INTRODUCTION = """
In short: the experiments can be repeated, most of the printed numbers of Tables 1–6 cannot, by any normalisation we
know of; and in our hands histograms of projections carry exactly what the tables of pairs carry, no less and no
more. By the factor error, maximum likelihood from one random start (RAND-EM) is better than every method of the paper
that looks at pairs in every table from a thousand rows on.

- **With few rows nothing here beats a constant guess.** With the true number of classes and no prior, every method
  of the paper fits the noise: at 100 rows all are far worse than the uniform table, by every measure, and so is EM
  started at the truth itself. What those rows could tell is in the last line of Table 2, the Bayes limit.
- **Most printed factor errors are out of reach of the printed formula.** In Tables 1, 3 and 4 even EM started at
  the truth is above all of them at every size, in Table 5 up to 10,000 rows. With the factor term divided by F, as
  in the reference code of the two-way paper, a constant guess beats every one of them. Both normalisations stand
  below each table, so that a reader may try others.
- **The order of methods is another.** Printed, the JUROR variants lead at small samples. Measured, from a thousand
  rows on JUROR-A and JUROR-B lie between SPA and RAND-EM, further from RAND-EM the more rows there are, and JUROR-C
  is about as poor as SPA.
- **The number of projections does not matter**, with either inversion, once R has full rank (Table 6).
- **The whole from pairs is better solved by likelihood than by least squares.** PAIR-EM, which is ours and not the
  paper's, knows what JUROR knows. Its tensor error is a quarter of JUROR-B's or less in every column of Tables 1 to 4,
  and in Table 2 from 5,000 rows on at most a fifth above the Bayes limit. It chooses its smoothing from the counts,
  which the methods of the paper do not have here. Where rows are few it smooths so much that its classes become
  copies, and is about the product of one-way marginals: up to 1,000 rows in Tables 1, 2 and 4, and in all of Table 3.
"""

# Below each table: what agrees with the paper, what does not, and why.
TABLES: dict[int, str] = {
    1: """
*What agrees:* errors fall with the number of samples. *What does not:* their size, and who leads. SPA cannot work
here: it needs, for every class, a label that only this class shows, and independent uniform entries have none, so
that its error hardly falls. G3 repairs most of that, but what pairs alone determine stays behind what rows or
triples determine: at 50,000 rows JUROR has more than twice the error of RAND-EM and CTF.
""",
    2: """
The measure to trust: no matching of classes, no choice of scale. *What agrees:* RAND-EM and CTF at 10,000 rows.
*What does not:* at 100 and 1,000 rows the printed numbers are near the uniform table and ours far above it, for the
reason said at the top; and JUROR, printed best, has more error than RAND-EM at 10,000 rows and more than twice what
is printed. Mind two references. At 1,000 rows the product of one-way marginals beats every method of the paper,
printed and measured. And the Bayes limit lies below everything, everywhere. We take the printed numbers at 100 rows
to come from smoothing, not from projections as such: the authors' inversion, MATLAB's `iradon`, smooths.
""",
    3: """
These columns are close to uniform, so that a constant guess has about the error that is printed for 1,000 rows.
Ninety such classes cannot be told apart from so few rows by anyone: the row of EM started at the truth says so. By
the tensor error the uniform table and the product of marginals are better than every method, EM from the truth
included, even at 100,000 rows. The printed errors fall below the constant guess; ours come down towards it from
above.
""",
    4: """
A fifth of the cells missing changes little in the picture. Every pair is counted over the rows that show both,
every triple over those that show all three, and EM sums missing cells out. CTF, which sees half of the rows in a
triple, pays for that at 100 and 1,000 rows, and no longer at 10,000.
""",
    5: """
The setting in which classes can be recovered, and the one that agrees best: RAND-EM at 50,000 and 100,000 rows
comes out as printed. From one random start it ends in a local optimum in some seeds, which its spread shows; EM
started at the truth does far better, and the gap between those two rows is what better starts can win. JUROR has
some five times the error of RAND-EM at the largest sizes. PAIR-EM's error hardly falls with the rows: pairs do not
determine classes whose entries are all positive (`juror.solvers.pair_em` says why), and it is as likely as EM on pairs
started at the truth. SPA and JUROR-C get *worse* with more rows: a wrong
choice of columns, made ever more surely.
""",
    6: """
Printed, the error grows by half and more from 200 projections to 50. Measured, it does not move beyond its spread,
neither with least squares nor with filtered back projection in G1 (which leaves JUROR a little worse from 10,000
rows on). From some fifty directions on R has full rank, its condition changes little, and stages G2 and G3 compare
with the histograms by R itself, so that an inexact inversion is soon forgotten. Had the inversion stood for Rᵗ
throughout, as `iradon` did for the authors, fewer angles would have made every step worse. That is the likely
source of the printed dependence. (Least squares is given histograms of points here, back projection those of
strips.)
""",
    7: """
RAND-EM and CTF, on the joint of features and label and with more classes than the papers tried, are well above
their printed accuracy. JUROR-A and JUROR-B reach theirs on Mushroom and not on Car. SPA and JUROR-C fail on Car,
with the accuracy of the most frequent label: its features are independent by design, so that the tables between two
halves of the variables have rank four and hold only noise beyond that. The discriminative methods are well above
their printed accuracy; the paper's were trained otherwise. Mushroom's labels have no order, so that its projections
are those of an arbitrary numbering.
""",
}

# Below the comparison of inversions: when do projections help?
INVERSIONS = """
**They help when the density is smooth, the samples are few and the inversion smooths.** Least squares from the
histograms returns the table of counts itself, to rounding: R has full rank, so that the histograms hold all that
the counts hold, and no more. Filtered back projection is another estimator, a smoother with a fixed bias. On a
smooth density it is better than counts up to some hundreds of samples, with the ramp and Shepp–Logan filters most,
and worse from a thousand on, where its bias stays and the noise of counts goes on falling. On a table without
structure it is no better than the uniform table at 100 samples, somewhat better than counts and uniform table at
300, and loses after that. On labels in an arbitrary order it is wrong at any size. So take least squares, the
default, and back projection only for ordered or binned variables with few rows.
"""

# At the end of the page.
CONCLUSION = """
## What to take from this

- Have rows: use `method="em"`. Where it falls short is in the references: the search for a start (Table 5), and the
  prior that maximum likelihood lacks (Table 2).
- Have only counted triples: `ctf`. Only pairs, or only histograms of projections: `pair-em`, which is what they
  allow. That one-way histograms of projections are enough to estimate a joint distribution from, the paper's title,
  is true as far as pair tables are: the two hold the same.
- Stage G2 is no descent: a line below each table says in how many fits no round of it came below the J₁ it was
  given.
- ρ is the number of directions here. The paper chose it by cross-validation (`rho="cv"`), which would be
  twenty-five more fits a cell.
- Seconds are those of a machine that did other work as well.
"""
