//! Csv files: a record per example, with cells that are numbers or names. One column is the label, or several
//! columns are numbers to predict.
//!
//! A column of numbers is one feature with the column's name and the cell's value. A column of names has a feature
//! `column=name` for each of its names, with the value 1. Cells are trimmed, and a cell that is empty, `NA`, `NaN`
//! or `?` is missing: it gives no feature.
//!
//! The first line decides the separator (`,`, `;`, a tab or `|`) and whether it is a header: it is none if one of
//! its cells is a number, and then the columns are called `c1`, `c2`, … The beginning of the training file decides
//! which columns are numbers. The recipe stores all of that except the separator, so other files are read in the
//! same way, with any separator and any order of their columns.

// Without the feature `csv` there are recipes, because model files have them, and reading is an error.
#[cfg(not(feature = "csv"))]
#[path = "absent.rs"]
mod read;
#[cfg(feature = "csv")]
mod read;
mod recipe;
#[cfg(feature = "csv")]
mod table;
#[cfg(feature = "csv")]
mod targets;

pub(super) use read::{read_known_as, read_training_as};
pub use recipe::{CsvColumn, CsvKind, CsvRecipe};

#[cfg(all(test, feature = "csv"))]
mod tests {
    use super::read::BEGINNING;
    use super::*;
    use crate::data::{Examples, Source, TargetKind, Unseen, Vocabulary};
    use crate::{Error, Result, Setting};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::io::Write;

    fn read_training(source: Source<'_>, recipe: &CsvRecipe) -> Result<(Examples, CsvRecipe)> {
        read_training_as(source, recipe, TargetKind::Class)
    }

    fn read_known(
        source: Source<'_>,
        recipe: &CsvRecipe,
        known: Vocabulary<'_>,
    ) -> Result<(Examples, bool, Unseen)> {
        read_known_as(source, recipe, known, TargetKind::Class)
    }

    fn source(text: &[u8]) -> Source<'_> {
        Source::from_bytes("t.csv", text).unwrap()
    }

    fn train(text: &str, recipe: &CsvRecipe) -> Result<(Examples, CsvRecipe)> {
        read_training(source(text.as_bytes()), recipe)
    }

    fn train_plain(text: &str) -> (Examples, CsvRecipe) {
        train(text, &CsvRecipe::default()).unwrap()
    }

    /// Features by name, and the label.
    fn example(data: &Examples, i: usize) -> (BTreeMap<&str, f64>, &str) {
        let name = |j| data.dictionary.name(j).unwrap();
        let features = data.rows.row(i).iter().map(|(j, x)| (name(j), x)).collect();
        (features, data.classes().unwrap().name(i))
    }

    fn labels(data: &Examples) -> Vec<u32> {
        data.classes().unwrap().numbers().to_vec()
    }

    fn classes(data: &Examples) -> &[String] {
        data.classes().unwrap().alphabet().names()
    }

    fn names(data: &Examples) -> Vec<&str> {
        data.dictionary.names().collect()
    }

    #[test]
    fn numbers_are_values_and_names_are_features() {
        let text = "age, colour ,zip,ill\r\n 31,red,04109,no\r\n\r\n\
                    -2.5e1,\"a, \"\"b\"\"\nc\",?,yes\n0,NA,04109, no ";
        let recipe = CsvRecipe { categorical: vec!["zip".into()], ..CsvRecipe::default() };
        let (data, recipe) = train(text, &recipe).unwrap();
        assert_eq!(names(&data), ["age", "colour=red", "zip=04109", "colour=a, \"b\"\nc"]);
        assert_eq!(data.rows.width(), 4);
        let expected = [
            (BTreeMap::from([("age", 31.0), ("colour=red", 1.0), ("zip=04109", 1.0)]), "no"),
            (BTreeMap::from([("age", -25.0), ("colour=a, \"b\"\nc", 1.0)]), "yes"),
            (BTreeMap::from([("zip=04109", 1.0)]), "no"),
        ];
        for (i, expected) in expected.into_iter().enumerate() {
            assert_eq!(example(&data, i), expected);
        }
        let columns = [("age", CsvKind::Number), ("colour", CsvKind::Name), ("zip", CsvKind::Name)];
        let columns = columns.map(|(name, kind)| CsvColumn { name: name.into(), kind });
        assert_eq!((&recipe.columns[..], recipe.header), (&columns[..], true));
        assert_eq!(recipe.label.as_deref(), Some("ill"));
    }

    #[test]
    fn a_first_line_with_a_number_is_no_header() {
        let (data, recipe) = train_plain("\u{feff}red;1,5;1.5;x\nblue;2;0;y");
        assert!(!recipe.header);
        assert_eq!(names(&data), ["c1=red", "c2=1,5", "c3", "c1=blue", "c2=2"]);
        assert_eq!((data.len(), classes(&data)), (2, &["x".into(), "y".into()][..]));
        let first = CsvRecipe { label: Some("c1".into()), ..CsvRecipe::default() };
        let (data, recipe) = train("no|1|a\nyes|2|b\n", &first).unwrap();
        assert_eq!((names(&data), labels(&data)), (vec!["c2", "c3=a", "c3=b"], vec![0, 1]));
        // The label column is where the training file has it, or missing.
        let known = data.vocabulary();
        let (more, labelled, _) = read_known(source(b"yes,3,b\nno,4,a"), &recipe, known).unwrap();
        assert_eq!((labelled, labels(&more)), (true, vec![1, 0]));
        let (bare, labelled, _) = read_known(source(b"3,b\n4,a"), &recipe, known).unwrap();
        assert!(!labelled && bare.targets.are_none());
        assert_eq!(bare.rows, more.rows);
        for text in ["3", "yes,3,b,1"] {
            let error = read_known(source(text.as_bytes()), &recipe, known).unwrap_err();
            assert!(error.to_string().contains("the training data had 3"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_quoted_name() {
        let (data, _) = train_plain("\u{feff}\"a\",b\n1,x\n");
        assert_eq!(names(&data), ["a"]);
    }

    #[test]
    fn labels_that_are_numbers_are_known_by_their_value() {
        let (data, recipe) = train_plain("x,y\n1,10\n1,+9\n1,9.0\n1,-0\n");
        assert_eq!(classes(&data), ["0", "9", "10"]);
        assert_eq!(labels(&data), [2, 1, 1, 0]);
        let text = b"y,x\n1e1,1\nmany,1\n7.0,1\n";
        let (more, _, unseen) = read_known(source(text), &recipe, data.vocabulary()).unwrap();
        assert_eq!(classes(&more), ["0", "9", "10", "7", "many"]);
        assert_eq!(
            (labels(&more), unseen.labels),
            (vec![2, 4, 3], vec!["7".into(), "many".into()])
        );
        // With one name that is not a number, all of them are texts.
        let (data, recipe) = train_plain("x,y\n1,1\n1,1.0\n1,nan\n");
        assert_eq!(classes(&data), ["1", "1.0", "nan"]);
        let (more, ..) = read_known(source(b"x,y\n1,1.0"), &recipe, data.vocabulary()).unwrap();
        assert_eq!(labels(&more), [1]);
    }

    #[test]
    fn labels_may_be_sets_of_which_some_are_empty() {
        let text = b"x,y\n1,\"b, a\"\n2,\n3,a\n4,\"a,b\"\n";
        let (data, recipe) =
            read_training_as(source(text), &CsvRecipe::default(), TargetKind::Set).unwrap();
        let sets: Vec<Vec<&str>> =
            (0..4).map(|i| data.sets().unwrap().names(i).collect()).collect();
        assert_eq!(sets, [vec!["a", "b"], vec![], vec!["a"], vec!["a", "b"]]);
        let known = data.vocabulary();
        let read =
            |text: &'static [u8]| read_known_as(source(text), &recipe, known, TargetKind::Set);
        let (more, labelled, unseen) = read(b"y;x\na,c;1\n;2\n").unwrap();
        assert_eq!((labelled, more.sets().unwrap().names(0).collect()), (true, vec!["a", "c"]));
        assert_eq!(unseen.labels, ["c"]);
        assert!(!read(b"x,y\n1,\n").unwrap().1 && !read(b"x\n1\n").unwrap().1);
        let error = read(b"x,y\n1,a\n2,\"a,a\"\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv:3: ") && error.contains("twice"), "{error}");
        // Names that are numbers are identified by their value in sets, too.
        let text = b"x,y\n1,\"1.0,+2\"\n2,\"2,1\"\n";
        let (data, _) =
            read_training_as(source(text), &CsvRecipe::default(), TargetKind::Set).unwrap();
        let sets = data.sets().unwrap();
        assert_eq!(sets.alphabet().names(), ["1", "2"]);
        assert_eq!((sets.of(0), sets.of(1)), (&[0, 1][..], &[0, 1][..]));
        let text = b"x,y\n1,\"1.0,1\"\n2,2\n";
        let error =
            read_training_as(source(text), &CsvRecipe::default(), TargetKind::Set).unwrap_err();
        assert!(error.to_string().starts_with("t.csv: ") && error.remedy().is_some(), "{error}");
        assert!(error.to_string().contains("`1` twice"), "{error}");
    }

    #[test]
    fn what_a_model_does_not_know_is_left_out_and_counted() {
        let (data, recipe) = train_plain("n,c,y\n1,red,a\n2,blue,b\n");
        let text = b"extra|c|y|n\n9|green|a|3\n9|red|c|0\n9||a|\n";
        let (more, labelled, unseen) =
            read_known(source(text), &recipe, data.vocabulary()).unwrap();
        assert_eq!(example(&more, 0), (BTreeMap::from([("n", 3.0)]), "a"));
        assert_eq!(example(&more, 1), (BTreeMap::from([("c=red", 1.0)]), "c"));
        assert_eq!(example(&more, 2), (BTreeMap::new(), "a"));
        assert_eq!((labelled, more.rows.width()), (true, 3));
        assert_eq!(unseen, Unseen { met: 4, features: 1, labels: vec!["c".into()] });
    }

    #[test]
    fn a_label_column_that_is_empty_throughout_is_none() {
        let (data, recipe) = train_plain("n,y\n1,a\n2,b\n");
        let known = data.vocabulary();
        let (more, labelled, _) = read_known(source(b"n,y\n1,\n2,\n"), &recipe, known).unwrap();
        assert!(!labelled && more.targets.are_none());
        let error = read_known(source(b"n,y\n1,a\n2,\n"), &recipe, known).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:3: the label is missing"), "{error}");
    }

    #[test]
    fn a_column_is_judged_by_the_beginning_of_the_file() {
        let mut text = "n,y\n".to_string();
        text.extend((0..BEGINNING).map(|i| format!("{i},a\n")));
        let late = format!("{text}many,b\n");
        let error = train(&late, &CsvRecipe::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:1002: `many` in the column `n`"), "{error}");
        assert!(error.remedy().unwrap().contains(&format!("{} n", Setting::Categorical)));
        let recipe = CsvRecipe { categorical: vec!["n".into()], ..CsvRecipe::default() };
        assert_eq!(train(&late, &recipe).unwrap().0.dictionary.len(), BEGINNING + 1);
        let early = text.replace("\n999,", "\nmany,");
        assert_eq!(train_plain(&early).1.columns[0].kind, CsvKind::Name);
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, line, what) in [
            ("a,b,y\n1,2,x\n\r\n3,x\n", 4, "has 2 cells, and the first line has 3"),
            ("a,b\r\n1,x\r\n1,x,2\r\n", 3, "has 3 cells"),
            ("a,b\n1,x\n\n1,\n", 4, "the label is missing: the column `b`"),
            ("\na,b,a\n1,2,3\n", 2, "two columns are called `a`"),
            ("a,,b\n1,2,3\n", 1, "column 2 has no name"),
            ("a,b\n1,x\n2,\"x\n3,x\n", 3, "a double quote is opened"),
            ("a,b\n1,\"x", 2, "a double quote is opened"),
        ] {
            let error = train(text, &CsvRecipe::default()).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&format!("t.csv:{line}: {what}")), "{message}");
            assert!(error.remedy().is_some());
        }
        let bytes = b"a,b\r\n\r\n\"x\n\",y\r\nx,\xff\r\n";
        let error = read_training(source(bytes), &CsvRecipe::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:5: is not UTF-8"), "{error}");
    }

    #[test]
    fn a_compressed_file_is_read_unless_it_is_cut_off() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let lines = (0..50_000).map(|i| format!("{i},a\n"));
        let text: String = std::iter::once("n,y\n".to_string()).chain(lines).collect();
        encoder.write_all(text.as_bytes()).unwrap();
        let whole = encoder.finish().unwrap();
        let recipe = CsvRecipe::default();
        assert_eq!(read_training(source(&whole), &recipe).unwrap(), train_plain(&text));
        let error = read_training(source(&whole[..whole.len() / 2]), &recipe).unwrap_err();
        assert!(matches!(error, Error::Line { line: 1000.., .. }), "{error}");
    }

    #[test]
    fn files_that_cannot_be_used_say_why() {
        let plain = CsvRecipe::default();
        let label = CsvRecipe { label: Some("z".into()), ..CsvRecipe::default() };
        let categorical = CsvRecipe { categorical: vec!["z".into()], ..CsvRecipe::default() };
        for (text, recipe, message, remedy) in [
            ("", &plain, "has no examples", ""),
            ("\u{feff}", &plain, "has no examples", ""),
            ("\n \r\n", &plain, "has no examples", ""),
            ("a,b\n", &plain, "has no examples", ""),
            ("a\n1\n", &plain, "has a single column", ""),
            ("a,b\n1,x\n", &label, "has no column `z`", "a, b"),
            ("a,b\n1,x\n", &categorical, "has no column `z`", "a, b"),
            ("1,x\n", &label, "has no column `z`", "c1, c2 (its first line has a number"),
            ("c,c=d,y\nd,1,x\n", &plain, "`c=d` is a column", "another name"),
        ] {
            let error = train(text, recipe).unwrap_err();
            assert!(error.to_string().starts_with(&format!("t.csv: {message}")), "{error}");
            assert!(error.remedy().unwrap().contains(remedy), "{error:?}");
        }
        let (data, recipe) = train_plain("a,b,y\n1,1,x\n");
        let known = data.vocabulary();
        let wide: Vec<String> = (0..23).map(|k| format!("w{k}")).collect();
        let error = train(&format!("{}\n", wide.join(",")), &label).unwrap_err();
        assert!(error.remedy().unwrap().ends_with("w18, w19 and 3 more"), "{error:?}");
        let error = read_known(source(b"a,y\n1,x\n"), &recipe, known).unwrap_err();
        assert_eq!(error.to_string(), "t.csv: has no column `b`");
        assert!(read_known(source(b"a,b,y\n"), &recipe, known).is_err());
        assert!(read_known(source(b"a,b,y\n1,1,x\n"), &plain, known).is_err());
    }

    #[test]
    fn an_equals_sign_in_a_name_is_fine_where_nothing_clashes() {
        let (data, _) = train_plain("c,c=d,e=f,y\n2,1,g,x\n");
        assert_eq!(names(&data), ["c", "c=d", "e=f=g"]);
    }

    #[test]
    fn a_recipe_that_no_training_file_made_does_not_panic() {
        let (data, mut recipe) = train_plain("a,b,y\n1,1,x\n");
        recipe.columns[1] = recipe.columns[0].clone();
        let (more, ..) = read_known(source(b"a,y\n5,x\n"), &recipe, data.vocabulary()).unwrap();
        assert_eq!(example(&more, 0), (BTreeMap::from([("a", 5.0)]), "x"));
    }

    #[test]
    fn a_recipe_survives_a_file() {
        let (_, recipe) = train_plain("a,b,y\n1,r,x\n");
        let text = serde_json::to_string(&recipe).unwrap();
        assert!(text.contains(r#"{"name":"b","kind":"name"}"#), "{text}");
        assert_eq!(serde_json::from_str::<CsvRecipe>(&text).unwrap(), recipe);
    }

    type Line = (Vec<Option<f64>>, Vec<String>, String);

    fn line() -> impl Strategy<Value = Line> {
        let value = prop_oneof![Just(0.0), -1e3..1e3_f64, any::<i8>().prop_map(f64::from)];
        let numbers = prop::collection::vec(prop::option::of(value), 2);
        let names = prop::collection::vec("[ab,;|\t\"\n= é]{0,4}", 2);
        (numbers, names, "[a-c]|[0-2]")
    }

    fn quoted(cell: &str) -> String {
        format!("\"{}\"", cell.replace('"', "\"\""))
    }

    /// The columns n, m, u, v and y in some order.
    fn written(lines: &[Line], order: &[usize], separator: char, end: &str) -> String {
        let header = ["n", "m", "u", "v", "y"].map(String::from);
        let cells = lines.iter().map(|(numbers, names, label)| {
            let number = |k: usize| numbers[k].map(|x| x.to_string()).unwrap_or_default();
            [number(0), number(1), quoted(&names[0]), quoted(&names[1]), label.clone()]
        });
        let separator = separator.to_string();
        let text = |cells: [String; 5]| {
            order.iter().map(|&k| cells[k].clone()).collect::<Vec<_>>().join(&separator) + end
        };
        std::iter::once(header).chain(cells).map(text).collect()
    }

    fn any_separator() -> impl Strategy<Value = char> {
        prop::sample::select(vec![',', ';', '\t', '|'])
    }

    fn any_end() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r\n \r\n"])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            lines in prop::collection::vec(line(), 1..8),
            separators in [any_separator(), any_separator()],
            end in any_end(),
            order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
        ) {
            let text = written(&lines, &[0, 1, 2, 3, 4], separators[0], end);
            let categorical = vec!["u".into(), "v".into()];
            let recipe = CsvRecipe { categorical, ..CsvRecipe::default() };
            let (data, recipe) = train(&text, &recipe).unwrap();
            prop_assert_eq!(data.len(), lines.len());
            for (i, (numbers, texts, label)) in lines.iter().enumerate() {
                let numbers = ["n", "m"].into_iter().zip(numbers);
                let texts = ["u", "v"].into_iter().zip(texts);
                let mut expected: BTreeMap<String, f64> = numbers
                    .filter_map(|(name, x)| x.filter(|&x| x != 0.0).map(|x| (name.into(), x)))
                    .collect();
                let cells = texts.filter(|(_, cell)| !cell.trim().is_empty());
                expected.extend(cells.map(|(name, cell)| (format!("{name}={}", cell.trim()), 1.0)));
                let (found, found_label) = example(&data, i);
                let found: BTreeMap<String, f64> =
                    found.into_iter().map(|(name, x)| (name.into(), x)).collect();
                prop_assert_eq!((found, found_label), (expected, label.as_str()));
            }
            // A model reads its training file as training did, also with another separator or order of columns.
            let again = read_known(source(text.as_bytes()), &recipe, data.vocabulary()).unwrap();
            prop_assert_eq!((&again.0, again.1, again.2.features), (&data, true, 0));
            let other = written(&lines, &order, separators[1], "\n");
            let again = read_known(source(other.as_bytes()), &recipe, data.vocabulary()).unwrap();
            prop_assert_eq!((&again.0, again.1, again.2.features), (&data, true, 0));
            prop_assert_eq!(train(&text, &recipe).unwrap(), (data, recipe));
        }

        #[test]
        fn a_bad_cell_is_found_in_its_line(lines in prop::collection::vec(line(), 1..8), end in any_end()) {
            let order = [0, 1, 2, 3, 4];
            let (data, recipe) = train_plain("n,m,u,v,y\n1,1,a,a,a\n");
            let good = written(&lines, &order, ',', end);
            let number = good.bytes().filter(|&byte| byte == b'\n').count() + 1;
            let bad = format!("{good}x,1,a,a,a{end}{}", written(&lines, &order, ',', end));
            let error = read_known(source(bad.as_bytes()), &recipe, data.vocabulary()).unwrap_err();
            let start = format!("t.csv:{number}: `x` in the column `n`");
            prop_assert!(error.to_string().starts_with(&start), "{}", error);
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "[a1,;\"=\r\n\t?\u{4} ]{0,40}", header: bool) {
            let _ = train(&text, &CsvRecipe::default());
            let (data, recipe) = train_plain(if header { "a,1a,y\n1,b,b\n" } else { "1,b,b\n" });
            let _ = read_known(source(text.as_bytes()), &recipe, data.vocabulary());
        }
    }
}
