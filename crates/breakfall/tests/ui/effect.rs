#[breakfall::tool(effect = "readonly")]
async fn t() -> Result<String, breakfall::Failure> {
    Ok(String::new())
}

fn main() {}
