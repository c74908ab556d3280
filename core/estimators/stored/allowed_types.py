"""The only types and functions that may be inside files of fitted models."""

# They only hold their contents: none opens, writes or runs anything when a file makes it with
# arguments of its choosing. numpy.memmap, which overwrites any file, must not be among them.


def _types(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


NUMBERS = _types("numpy", "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64")
NUMBERS |= _types("numpy", "float32 float64")
_PLAIN = _types("builtins", "bool dict float int list slice str tuple")
_PLAIN |= _types("numpy", "dtype ndarray")
FUNCTIONS = _types("numpy", "asarray clip expand_dims interp ravel") | {"pandas.to_datetime"}
_SKLEARN = {
    *_types("_loss._loss", "CyHalfBinomialLoss CyHalfMultinomialLoss CyHalfSquaredError"),
    *_types("_loss.link", "IdentityLink Interval LogitLink MultinomialLogit"),
    *_types("_loss.loss", "HalfBinomialLoss HalfMultinomialLoss HalfSquaredError"),
    *_types("calibration", "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration"),
    *_types("compose", "_column_transformer.ColumnTransformer _target.TransformedTargetRegressor"),
    "decomposition._truncated_svd.TruncatedSVD",
    *_types("dummy", "DummyClassifier DummyRegressor"),
    *_types("ensemble._forest", "ExtraTreesClassifier ExtraTreesRegressor"),
    *_types("ensemble._forest", "RandomForestClassifier RandomForestRegressor"),
    *_types("ensemble._hist_gradient_boosting", "binning._BinMapper predictor.TreePredictor"),
    *_types(
        "ensemble._hist_gradient_boosting.gradient_boosting",
        "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    ),
    *_types("ensemble._voting", "VotingClassifier VotingRegressor"),
    *_types("feature_extraction.text", "TfidfTransformer TfidfVectorizer"),
    *_types("impute._base", "MissingIndicator SimpleImputer"),
    "kernel_approximation.Nystroem",
    *_types("linear_model", "_coordinate_descent.ElasticNet _logistic.LogisticRegression"),
    *_types("linear_model", "_ridge.Ridge _stochastic_gradient.SGDClassifier"),
    *_types("metrics._dist_metrics", "EuclideanDistance64 ManhattanDistance64"),
    *_types("model_selection", "_classification_threshold.FixedThresholdClassifier"),
    *_types("model_selection._split", "KFold StratifiedKFold"),
    "naive_bayes.GaussianNB",
    *_types("neighbors", "_classification.KNeighborsClassifier _kd_tree.KDTree"),
    "neighbors._regression.KNeighborsRegressor",
    *_types("neural_network._multilayer_perceptron", "MLPClassifier MLPRegressor"),
    *_types("neural_network._stochastic_optimizers", "AdamOptimizer"),
    *_types("pipeline", "FeatureUnion Pipeline"),
    *_types("preprocessing._data", "MinMaxScaler StandardScaler"),
    *_types("preprocessing._discretization", "KBinsDiscretizer"),
    *_types("preprocessing._encoders", "OneHotEncoder OrdinalEncoder"),
    *_types("preprocessing._function_transformer", "FunctionTransformer"),
    *_types("preprocessing._label", "LabelBinarizer LabelEncoder"),
    "preprocessing._target_encoder.TargetEncoder",
    *_types("svm._classes", "SVC SVR"),
    *_types("tree", "_classes.DecisionTreeClassifier _classes.DecisionTreeRegressor _tree.Tree"),
    *_types("tree._classes", "ExtraTreeClassifier ExtraTreeRegressor"),
    *_types("utils._bunch", "Bunch"),
}
_OTHERS = {
    "numpy.random._generator.Generator",
    "numpy.random.mtrand.RandomState",
    "scipy.sparse._csr.csr_matrix",
}
_OURS = {
    "core.datasets.fixed_folds.FixedFolds",
    "core.datasets.texts.tfidf.TextTfidf",
    *_types("core.datasets.texts.word_counts", "CommonCounts TextCounts"),
    *_types("core.estimators.averages.structured", "AveragedFolder AveragedTagger"),
    "core.estimators.averages.topics.AveragedTopics",
    "core.estimators.dlgm.dlgm_classifier.DlgmClassifier",
    "core.estimators.lda.online_lda.OnlineLda",
    *_types("core.estimators.structured", "crf_tagger.CrfTagger rna_folder.RnaFolder"),
    "core.estimators.tables.l1l2_classifier.L1L2Classifier",
    "core.estimators.vote7.classifier.Vote7Classifier",
    *_types("core.losses.crf.encoding", "EncodedColumn FeatureEncoding"),
}
# The same classes by the names that files of earlier versions have for them (core.old_names).
_OURS_BEFORE = {
    "core.estimators.dlgm.estimator.DlgmClassifier",
    "core.estimators.lda.estimator.OnlineLda",
    *_types("core.losses.crf.encoding", "Coded Encoding"),
}

_SKLEARN_TYPES = {f"sklearn.{name.lstrip('.')}" for name in _SKLEARN}
EXPORTED = frozenset(
    {*NUMBERS, *FUNCTIONS, *_PLAIN, *_OTHERS, *_SKLEARN_TYPES}
)  # in exported skops files
KEPT = EXPORTED | _OURS | _OURS_BEFORE  # in the fitted best of a run folder
