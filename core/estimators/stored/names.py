"""The types and functions that may be inside files of fitted models, and nothing else may.

Each of them only holds what it is given: none opens, writes or runs anything when a file makes it
with arguments of its own choosing. numpy.memmap, which overwrites any file, is no part of it.
tests/core/estimators/stored/test_names.py fits every model and prints what is missing or too much.
"""

from __future__ import annotations


def _within(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


NUMBERS = _within(
    "numpy", "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
)
_PLAIN = _within("builtins", "bool dict float int list slice str tuple") | _within(
    "numpy", "asarray dtype expand_dims ndarray random.PCG64 ravel"
)
_SKLEARN = {
    *_within("_loss._loss", "CyHalfBinomialLoss CyHalfMultinomialLoss CyHalfSquaredError"),
    *_within("_loss.link", "IdentityLink Interval LogitLink MultinomialLogit"),
    *_within("_loss.loss", "HalfBinomialLoss HalfMultinomialLoss HalfSquaredError"),
    *_within("calibration", "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration"),
    *_within("compose", "_column_transformer.ColumnTransformer _target.TransformedTargetRegressor"),
    "decomposition._truncated_svd.TruncatedSVD",
    *_within("dummy", "DummyClassifier DummyRegressor"),
    *_within("ensemble._forest", "ExtraTreesClassifier ExtraTreesRegressor"),
    *_within("ensemble._forest", "RandomForestClassifier RandomForestRegressor"),
    *_within("ensemble._hist_gradient_boosting", "binning._BinMapper predictor.TreePredictor"),
    *_within(
        "ensemble._hist_gradient_boosting.gradient_boosting",
        "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    ),
    *_within("ensemble._voting", "VotingClassifier VotingRegressor"),
    *_within("feature_extraction.text", "TfidfTransformer TfidfVectorizer"),
    *_within("", "impute._base.SimpleImputer kernel_approximation.Nystroem"),
    *_within("linear_model", "_coordinate_descent.ElasticNet _logistic.LogisticRegression"),
    *_within("linear_model", "_ridge.Ridge _stochastic_gradient.SGDClassifier"),
    *_within("metrics._dist_metrics", "EuclideanDistance64 ManhattanDistance64"),
    *_within("model_selection", "_classification_threshold.FixedThresholdClassifier"),
    *_within("model_selection", "_split.StratifiedKFold"),
    "naive_bayes.GaussianNB",
    *_within("neighbors", "_classification.KNeighborsClassifier _kd_tree.KDTree"),
    "neighbors._regression.KNeighborsRegressor",
    *_within("neural_network._multilayer_perceptron", "MLPClassifier MLPRegressor"),
    *_within("neural_network._stochastic_optimizers", "AdamOptimizer"),
    *_within("pipeline", "FeatureUnion Pipeline"),
    *_within("preprocessing._data", "MinMaxScaler StandardScaler"),
    *_within("preprocessing._discretization", "KBinsDiscretizer"),
    *_within("preprocessing._encoders", "OneHotEncoder OrdinalEncoder"),
    *_within("preprocessing._function_transformer", "FunctionTransformer"),
    *_within("preprocessing._label", "LabelBinarizer LabelEncoder"),
    *_within("svm._classes", "SVC SVR"),
    *_within("tree", "_classes.DecisionTreeClassifier _classes.DecisionTreeRegressor _tree.Tree"),
    *_within("tree._classes", "ExtraTreeClassifier ExtraTreeRegressor"),
    *_within("utils._bunch", "Bunch"),
}
_OTHERS = {
    "numpy.random._generator.Generator",
    "numpy.random.mtrand.RandomState",
    "pandas.to_datetime",
    "scipy.sparse._csr.csr_matrix",
}
_OURS = {
    "core.datasets.texts.tfidf.TextTfidf",
    *_within("core.datasets.texts.word_counts", "CommonCounts TextCounts"),
    *_within("core.estimators.averages.structured", "AveragedFolder AveragedTagger"),
    "core.estimators.averages.topics.AveragedTopics",
    "core.estimators.dlgm.estimator.DlgmClassifier",
    "core.estimators.lda.estimator.OnlineLda",
    *_within("core.estimators.structured", "crf_tagger.CrfTagger rna_folder.RnaFolder"),
    "core.estimators.tables.l1l2_classifier.L1L2Classifier",
    "core.estimators.vote7.classifier.Vote7Classifier",
    *_within("core.losses.crf.encoding", "Coded Encoding"),
}

# What exported skops files hold, and what the fitted best of a run folder may hold beside.
EXPORTED = frozenset(
    {*NUMBERS, *_PLAIN, *_OTHERS, *(f"sklearn.{name.lstrip('.')}" for name in _SKLEARN)}
)
KEPT = EXPORTED | _OURS
