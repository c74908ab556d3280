"""The figures of the papers, as printed."""

from __future__ import annotations

# Foo 2009, table 1: test MSE of least squares, grid and mm; best C of grid and mm.
FOO_TABLE_1: dict[str, tuple[float | None, ...]] = {
    "abalone": (4.815, 4.97, 4.821, 1, 0.109),
    "bodyfat": (0.0, 0.0, 0.0, 0.0625, 0.06),
    "cpusmall": (93.325, 93.506, 93.381, 0.5, 0.16),
    "housing": (24.111, 24.833, 24.491, 2, 1.04),
    "mg": (0.0213, 0.0213, 0.0213, 2, 1.63),
    "mpg": (10.759, 11.223, 11.204, 1, 0.951),
    "pyrim": (None, 0.00355, 0.00367, 8, 1.137),
    "space_ga": (0.019, 0.019, 0.019, 0.00391, 0.00503),
    "triazines": (None, 0.0272, 0.0247, 2, 26.579),
}

# Foo 2009: how many times as fast mm is as grid, least and most.
FOO_SPEED = {"table 2": (11, 34), "table 3a": (3.3, 25)}

# Foo 2009, table 2: accuracy in % of grid, gradient, direct and mm.
FOO_TABLE_2: dict[str, tuple[float | None, ...]] = {
    "australian": (86.96, 86.47, 85.51, 85.51),
    "breast-cancer": (96.08, 96.08, 96.57, 96.57),
    "diabetes": (76.52, 76.96, 76.52, 76.09),
    "german.numer": (75.33, 75.33, 75.0, 75.0),
    "heart": (83.95, 87.65, 83.95, 86.42),
    "ionosphere": (83.81, 82.86, 80.0, 82.86),
    "liver-disorders": (68.93, 67.96, 67.96, 65.05),
    "mushrooms": (100, 100, 100, 100),
    "sonar": (70.97, 75.81, 66.13, 70.97),
    "splice": (73.24, 85.47, 73.29, 85.33),
    "w1a": (97.32, 97.83, 97.2, 97.03),
}

# Foo 2009, table 3a: classes; accuracy in % of grid, gradient, direct and mm.
FOO_TABLE_3A: dict[str, tuple[float | None, ...]] = {
    "connect-4": (3, 75.62, 75.62, 75.59, 75.6),
    "dna": (3, 94.94, 95.03, 95.11, 95.11),
    "glass": (6, 64.06, 65.62, 67.19, 67.19),
    "iris": (3, 84.44, 88.89, 82.22, 93.33),
    "letter": (26, 75.62, 77.34, 75.6, 77.3),
    "mnist": (10, 91.44, 91.64, 89.68, 89.86),
    "satimage": (6, 83.25, 83.65, 83.8, 83.5),
    "segment": (7, 95.24, 95.09, 93.51, 93.51),
    "svmguide2": (3, 84.62, 84.62, 60.68, 60.68),
    "usps": (10, 92.08, 91.98, 90.33, 90.33),
    "vehicle": (4, 82.21, 83.0, 82.21, 83.0),
    "vowel": (11, 40.48, 48.7, 40.91, 48.27),
    "wine": (3, 98.11, 98.11, 98.11, 98.11),
}

# Foo 2009, table 3b: C by motif, MM: after one step on fold A and B, final on fold A and B.
FOO_TABLE_3B: dict[str, tuple[float, ...]] = {
    "base pairings": (1.647, 1.884, 1.047, 1.129),
    "terminal mismatch interactions": (13.473, 10.442, 126.28, 124.953),
    "hairpin loop lengths": (0.771, 0.875, 0.886, 0.953),
    "explicit internal loop sizes": (4.436, 3.505, 3.891, 3.478),
    "bulge loop lengths": (2.961, 3.31, 5.903, 6.2),
    "internal loop lengths": (4.663, 3.072, 9.626, 8.792),
    "symmetric internal loop lengths": (5.528, 5.469, 6.617, 6.511),
    "internal loop asymmetry": (5.71, 6.869, 9.798, 10.967),
    "single base bulge nucleotides": (1.882, 1.943, 1.261, 1.241),
    "1x1 internal loop nucleotides": (2.14, 3.209, 6.236, 6.571),
    "helix stacking interactions": (20.738, 21.066, 67.288, 65.758),
    "helix closing interactions": (0.683, 0.788, 0.302, 0.38),
    "multi-branch loop lengths": (0.454, 0.443, 0.329, 0.312),
    "single base pair stacking interactions": (12.377, 13.262, 61.294, 62.128),
    "external loop lengths": (0.691, 0.787, 0.833, 0.779),
}

# Foo 2009, table 4: ROC area by grouping and method.
FOO_TABLE_4: dict[str, dict[str, float]] = {
    "single": {"gradient": 0.619, "direct": 0.603, "mm": 0.603},
    "grouped": {"gradient": 0.638, "direct": 0.612, "mm": 0.633},
}

# Do 2008, figure 3b: exp(d) by motif, folds A and B, in the words of Foo's table 3b.
DO_FIGURE_3: dict[str, tuple[float, float]] = {
    "hairpin loop lengths": (0.0832, 0.456),
    "helix closing interactions": (0.78, 0.0947),
    "symmetric internal loop lengths": (6.32, 0.0151),
    "external loop lengths": (0.338, 0.401),
    "bulge loop lengths": (0.451, 2.03),
    "base pairings": (2.01, 7.95),
    "internal loop asymmetry": (4.24, 6.9),
    "explicit internal loop sizes": (12.8, 6.39),
    "terminal mismatch interactions": (132, 50.2),
    "single base pair stacking interactions": (71.0, 104),
    "1x1 internal loop nucleotides": (139, 120),
    "single base bulge nucleotides": (136, 130),
    "internal loop lengths": (1990, 35.3),
    "multi-branch loop lengths": (359, 2750),
    "helix stacking interactions": (12100, 729),
}
DO_FIGURE_3_AREA = {"single": 0.6169, "separate": 0.6383, "grouped": 0.6406}
DO_FIGURE_3_LOSS = {"single": 5916, "separate": 5763, "grouped": 5531}

# Yogatama & Mann 2014, table 2: average rank of six and its standard deviation, logistic
# regression on perturbed copies, 1 + 5 trials. Columns: development, sd, test, sd.
YOGATAMA_TABLE_2: dict[str, tuple[float, ...]] = {
    "random": (3.98, 0.11, 3.94, 0.12),
    "gp": (3.55, 0.11, 3.58, 0.13),
    "scot-sqe": (3.76, 0.19, 3.75, 0.17),
    "scot-mkl": (3.15, 0.48, 3.18, 0.43),
    "transfer-sqe": (3.36, 0.14, 3.34, 0.15),
    "transfer-mkl": (3.17, 0.22, 3.19, 0.20),
}

# Yogatama & Mann 2014, table 3: the same on 42 datasets, 1 + 10 trials.
YOGATAMA_TABLE_3_LOGISTIC: dict[str, tuple[float, ...]] = {
    "random": (3.93, 0.19, 3.89, 0.16),
    "gp": (3.42, 0.09, 3.43, 0.11),
    "scot-sqe": (3.51, 0.18, 3.50, 0.18),
    "scot-mkl": (3.20, 0.46, 3.18, 0.40),
    "transfer-sqe": (3.85, 0.31, 3.78, 0.20),
    "transfer-mkl": (3.08, 0.17, 3.23, 0.21),
}
YOGATAMA_TABLE_3_ENSEMBLE: dict[str, tuple[float, ...]] = {
    "random": (3.85, 0.13, 3.77, 0.17),
    "gp": (3.62, 0.19, 3.55, 0.29),
    "scot-sqe": (3.75, 0.26, 3.57, 0.20),
    "scot-mkl": (3.11, 0.24, 3.31, 0.24),
    "transfer-sqe": (3.58, 0.13, 3.50, 0.24),
    "transfer-mkl": (3.10, 0.31, 3.29, 0.26),
}

# Yogatama & Mann 2014, figure 3, by its text: CPU seconds of logistic regression after 20 and 40
# datasets.
YOGATAMA_FIGURE_3 = {"scot-mkl": (1000, 5000), "transfer-mkl": (400, 1000)}

# McInerney 2017, table 2: predictive log likelihood of LDA on 20 Newsgroups, and % over BayesOpt
# with validation. {(method, with validation): ...}; random search has one row, without a word on
# validation.
MCINERNEY_TABLE_2: dict[tuple[str, bool], tuple[float, float]] = {
    ("bayesopt", True): (-357648, 0.00),
    ("bayesopt", False): (-361661, -1.12),
    ("eb-hyp", True): (-357650, -0.00),
    ("eb-hyp", False): (-351911, 1.60),
    ("random", True): (-2666074, -645),
}

# McInerney 2017, table 3: the same of deep latent Gaussian models on faces.
MCINERNEY_TABLE_3: dict[tuple[str, bool], tuple[float, float]] = {
    ("bayesopt", True): (-17071, 0.00),
    ("bayesopt", False): (-15970, 6.45),
    ("eb-hyp", True): (-16375, 4.08),
    ("eb-hyp", False): (-15872, 7.02),
    ("random", True): (-17271, -1.17),
}
